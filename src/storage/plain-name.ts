const SHORT_PRINTABLE = /^(?!sha256:)[!-z|~]{1,128}$/;

/** Whether a store keeps a reference or key as it is. Any other is stored by its digest. */
export function isPlainName(text: string): boolean {
  return SHORT_PRINTABLE.test(text);
}
