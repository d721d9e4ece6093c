import { extname } from "node:path";

/** Readable media types, with their file endings. */
export const readableTypes = {
  "text/markdown": [".md", ".markdown"],
  "text/html": [".html", ".htm", ".xhtml"],
  "text/plain": [".txt", ".text"],
  "application/pdf": [".pdf"],
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": [".docx"],
  "text/csv": [".csv"],
  "application/json": [".json"],
} as const satisfies Readonly<Record<string, readonly string[]>>;
export type ReadableType = keyof typeof readableTypes;

export const wordType = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
/** Types whose bytes are text. */
export type TextType = Exclude<ReadableType, "application/pdf" | typeof wordType>;

/** Named in the error for other types. */
export const readableEndings =
  "Markdown (.md), HTML (.html), plain text (.txt), PDF (.pdf), Word (.docx), CSV (.csv) and JSON (.json)";

const byType: ReadonlyMap<string, ReadableType> = new Map<string, ReadableType>([
  ...(Object.keys(readableTypes) as ReadableType[]).map((type): [string, ReadableType] => [type, type]),
  ["text/x-markdown", "text/markdown"],
  ["application/xhtml+xml", "text/html"],
]);
const byEnding: ReadonlyMap<string, ReadableType> = new Map(
  (Object.keys(readableTypes) as ReadableType[]).flatMap((type) => readableTypes[type].map((ending) => [ending, type])),
);

/**
 * The type of a file, by the ending of its name, or else by its media type; browsers send Markdown as `text/plain` or
 * without a type. Undefined for a file that cannot be read.
 */
export function readableType(fileName: string, mediaType: string | undefined): ReadableType | undefined {
  const known = byEnding.get(extname(fileName).toLowerCase());
  if (known !== undefined) return known;
  return byType.get((mediaType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "");
}
