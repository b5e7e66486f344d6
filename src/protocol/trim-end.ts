/** Removes a character that repeats at the end. `/0+$/` would look for the end again from each zero within the text. */
export function trimEnd(text: string, character: string): string {
  let end = text.length;
  while (text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}
