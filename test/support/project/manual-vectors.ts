import { writeFile } from "node:fs/promises";
import { manualPages } from "#admin/installation/manual.ts";
import { parseInWorker } from "#knowledge/parse/parse-in-worker.ts";
import { titleFromFileName } from "#knowledge/parse/parse.ts";
import {
  manualVectorsFile,
  manualVectorsUrl,
  packVector,
  readManualVectors,
  vectorKey,
} from "#knowledge/vectors/encoder/manual-vectors.ts";
import { loadEncoder } from "#knowledge/vectors/encoder/model.ts";
import { partsOf } from "#knowledge/vectors/parts.ts";

/** The texts of the manual that get a vector, by their keys. */
export async function manualTexts(): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const { fileName, bytes } of await manualPages()) {
    const task = { bytes: new Uint8Array(bytes), type: "text/markdown", title: titleFromFileName(fileName) } as const;
    const { chunks } = await parseInWorker(task);
    for (const text of chunks.flatMap((chunk) => partsOf(chunk.title, chunk.text))) texts.set(vectorKey(text), text);
  }
  return texts;
}

if (import.meta.main) {
  const [texts, before] = await Promise.all([manualTexts(), readManualVectors()]);
  const vectors = new Map([...before].filter(([key]) => texts.has(key)));
  const missing = [...texts].filter(([key]) => !vectors.has(key));
  const encode = missing.length === 0 ? undefined : await loadEncoder();
  for (const [key, text] of missing) {
    const [vector] = (await encode?.([text])) ?? [];
    if (vector !== undefined) vectors.set(key, packVector(vector));
  }
  const file = manualVectorsFile(vectors);
  await writeFile(manualVectorsUrl, file);
  console.log(`wrote ${vectors.size} vectors of the manual, ${missing.length} of them new, ${file.length} bytes`);
}
