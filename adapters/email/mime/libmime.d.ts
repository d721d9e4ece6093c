/** The part of the package that is used here: it comes without types. */
declare module "libmime" {
  const libmime: {
    /** Joins the lines of format=flowed (RFC 3676). */
    decodeFlowed(text: string, deletesSpaces: boolean): string;
    /** Decodes encoded words (RFC 2047). */
    decodeWords(text: string): string;
    /** The extension of a media type, `bin` if unknown. */
    detectExtension(mediaType: string): string;
    /** The media type of a file name, `application/octet-stream` if unknown. */
    detectMimeType(fileName: string): string;
  };
  export default libmime;
}
