export interface EmbeddedPicture {
  readonly mediaType: string;
  readonly content: Buffer;
}

const picture =
  /\bsrc[ \t\r\n]{0,9}=[ \t\r\n]{0,9}(["']?)data:(image\/[\w.+-]{1,60})(?:;[\w=-]{1,60}){0,3};base64,([\w+/=%\s-]*)/gi;
/** Fonts, style sheets and the like. */
const otherData = /\bdata:[\w.+-]{1,60}\/[\w.+-]{1,60}[;,][^"'\s)>]{200,}/gi;
const picturesMax = 50;

/** Takes the pictures out that the HTML holds as `data:` addresses, which would use up the limit of the text. */
export function takePictures(html: string): { readonly html: string; readonly pictures: readonly EmbeddedPicture[] } {
  if (!/\bdata:/i.test(html)) return { html, pictures: [] };
  const pictures: EmbeddedPicture[] = [];
  const without = html.replaceAll(picture, (_, quote: string, mediaType: string, base64: string) => {
    if (pictures.length < picturesMax) {
      const bare = base64.replaceAll(/%([0-9a-f]{2})/gi, (_encoded, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      );
      const content = Buffer.from(bare, "base64");
      pictures.push({ mediaType: mediaType.toLowerCase(), content });
    }
    return `src=${quote}picture`;
  });
  return { html: without.replaceAll(otherData, ""), pictures };
}
