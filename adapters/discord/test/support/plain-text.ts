/** Discord's Markdown as a reader sees it: without marks and escapes. */
export function plainText(content: string): string {
  const escapes: string[] = [];
  return content
    .replaceAll(/\\([^0-9A-Za-z\s])/g, (_whole, sign: string) => `\uE000${escapes.push(sign) - 1}\uE000`)
    .replaceAll(/\[([^\]]*)\]\(<([^>]*)>\)/g, "$1")
    .replaceAll(/```\n?|``|\*\*|~~|\u200B/g, "")
    .replaceAll(/(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, "")
    .replaceAll(/^> /gm, "")
    .replaceAll(/\uE000(\d+)\uE000/g, (_whole, at: string) => escapes[Number(at)] ?? "");
}
