/** What a reader sees of Discord's Markdown: without marks and escapes. */
export function plainText(content: string): string {
  const escapes: string[] = [];
  return content
    .replaceAll(/\\([^0-9A-Za-z\s])/g, (_whole, sign: string) => `\u0000${escapes.push(sign) - 1}\u0000`)
    .replaceAll(/\[([^\]]*)\]\(<([^>]*)>\)/g, "$1")
    .replaceAll(/```\n?|``|\*\*|~~|\u200B/g, "")
    .replaceAll(/(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, "")
    .replaceAll(/^> /gm, "")
    .replaceAll(/\u0000(\d+)\u0000/g, (_whole, at: string) => escapes[Number(at)] ?? "");
}
