import { batch, signal } from "@preact/signals";
import { api, uploadFile } from "#web/inbox/store/api.ts";
import type { DraftFile, Drafts } from "#web/inbox/store/drafts.ts";
import { newClientId } from "#web/inbox/store/drafts.ts";

const filesMax = 20;

/** A file that is being uploaded, or (`problem`) could not be. */
export interface Upload {
  readonly number: number;
  readonly conversationId: string;
  readonly file: File;
  readonly abort: AbortController;
  /** The share that was sent, 0 to 1. */
  readonly share: number;
  readonly problem: string | undefined;
}

export type Uploads = ReturnType<typeof createUploads>;

/** Files on their way into the draft of a reply. They go on when the agent opens another conversation. */
export function createUploads(drafts: Drafts) {
  const uploads = signal<readonly Upload[]>([]);
  let count = 0;

  const of = (conversationId: string): readonly Upload[] =>
    uploads.value.filter((upload) => upload.conversationId === conversationId);
  const update = (number: number, change: Partial<Upload>): void => {
    uploads.value = uploads.value.map((upload) => (upload.number === number ? { ...upload, ...change } : upload));
  };
  const drop = (number: number): void => {
    uploads.value = uploads.value.filter((upload) => upload.number !== number);
  };
  // Other files make another reply.
  const write = (conversationId: string, files: readonly DraftFile[]): void =>
    drafts.write(conversationId, { files, clientId: newClientId() });

  async function start({ number, conversationId, file, abort }: Upload): Promise<void> {
    const others = of(conversationId).filter((upload) => upload.number !== number);
    const isFull = drafts.read(conversationId).files.length + others.length >= filesMax;
    update(number, { share: 0, problem: isFull ? `A reply has at most ${filesMax} files.` : undefined });
    if (isFull) return;
    try {
      const { id, name, bytes } = await uploadFile(conversationId, file, abort.signal, (share) =>
        update(number, { share }),
      );
      // At once: a reply that waits for its files is sent when none is left.
      batch(() => {
        drop(number);
        write(conversationId, [...drafts.read(conversationId).files, { id, name, bytes: bytes ?? 0 }]);
      });
    } catch (error) {
      update(number, { problem: error instanceof Error ? error.message : "It could not be uploaded." });
    }
  }

  return {
    of,
    add(conversationId: string, files: readonly File[]): void {
      for (const file of files) {
        count += 1;
        const abort = new AbortController();
        const upload: Upload = { number: count, conversationId, file, abort, share: 0, problem: undefined };
        uploads.value = [...uploads.value, upload];
        void start(upload);
      }
    },
    retry: (upload: Upload) => void start(upload),
    cancel(upload: Upload): void {
      drop(upload.number);
      upload.abort.abort();
    },
    /** Removes an uploaded file from the draft. */
    remove(conversationId: string, fileId: string): void {
      const files = drafts.read(conversationId).files.filter(({ id }) => id !== fileId);
      write(conversationId, files);
      // Files that are not sent are removed after a day, so an error changes nothing.
      api.removeFile(fileId).catch(() => undefined);
    },
    /** All files of the conversation are in its draft. */
    isDone: (conversationId: string): boolean => of(conversationId).length === 0,
    hasFailed: (conversationId: string): boolean => of(conversationId).some(({ problem }) => problem !== undefined),
  };
}
