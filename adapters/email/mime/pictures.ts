export interface EmbeddedPicture {
  readonly mediaType: string;
  readonly content: Buffer;
}

const picture =
  /\bsrc[ \t\r\n]{0,9}=[ \t\r\n]{0,9}(["']?)data:(image\/[\w.+-]{1,60})(?:;[\w=-]{1,60}){0,3};base64,([\w+/=%\s-]*)/gi;
/** SVG as text. The quotation mark ends it. */
const drawing =
  /\bsrc[ \t\r\n]{0,9}=[ \t\r\n]{0,9}(?:"data:(image\/[\w.+-]{1,60})(?:;[\w=-]{1,60}){0,3},([^"]*)"|'data:(image\/[\w.+-]{1,60})(?:;[\w=-]{1,60}){0,3},([^']*)')/gi;
/** Fonts, style sheets and the like. */
const otherData = /\bdata:[\w.+-]{1,60}\/[\w.+-]{1,60}[;,][^"'\s)>]{200,}/gi;
const picturesMax = 50;

/** Takes the pictures out that the HTML holds as `data:` addresses, which would use up the limit of the text. */
export function takePictures(html: string): { readonly html: string; readonly pictures: readonly EmbeddedPicture[] } {
  if (!/\bdata:/i.test(html)) return { html, pictures: [] };
  const pictures: EmbeddedPicture[] = [];
  const keep = (mediaType: string, content: Buffer): void => {
    if (pictures.length < picturesMax) pictures.push({ mediaType: mediaType.toLowerCase(), content });
  };
  const without = html
    .replaceAll(picture, (_, quote: string, mediaType: string, base64: string) => {
      keep(mediaType, Buffer.from(unescaped(base64).toString("latin1"), "base64"));
      return `src=${quote}picture`;
    })
    .replaceAll(drawing, (_, type?: string, text?: string, otherType?: string, otherText?: string) => {
      keep(type ?? otherType ?? "", unescaped(text ?? otherText ?? ""));
      return 'src="picture"';
    });
  return { html: without.replaceAll(otherData, ""), pictures };
}

/** The bytes of percent-encoded text. */
const unescaped = (text: string): Buffer =>
  Buffer.from(
    text
      .toWellFormed()
      .replaceAll(/\P{ASCII}{1,1000}/gu, encodeURIComponent)
      .replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );
