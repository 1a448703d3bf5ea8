/** A word of a command, as a POSIX shell reads it. */
export function shellWord(text: string): string {
  return /^[\w.:=,/%-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
