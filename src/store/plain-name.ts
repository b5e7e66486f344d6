const SHORT_PRINTABLE = /^(?!sha256:)[!-z|~]{1,128}$/;

/** Whether a reference or key is stored unchanged. Any other is stored as a digest. */
export function isPlainName(text: string): boolean {
  return SHORT_PRINTABLE.test(text);
}
