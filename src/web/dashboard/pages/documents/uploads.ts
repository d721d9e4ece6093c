import { useRef, useState } from "preact/hooks";
import { messageOf } from "#web/shared/ui/notices.ts";
import { RequestFailed } from "#web/shared/request.ts";
import { api } from "#web/dashboard/api.ts";
import type { KnowledgeDocument, OneDocument } from "./documents.ts";

export interface Upload {
  readonly number: number;
  readonly file: File;
  readonly state: "waiting" | "sending" | "failed";
  /** 0 to 1. */
  readonly share: number;
  readonly error: string | null;
}

/** The server takes a few at a time from all people. */
const atOnce = 3;
const bytesMax = 25 * 1_048_576;

export interface Uploads {
  /** Those that are not stored yet. */
  readonly list: readonly Upload[];
  readonly add: (files: Iterable<File>, audience: readonly string[]) => void;
  readonly dismiss: (upload: Upload) => void;
}

/** Sends files, a few at a time. `stored` is called for each document. */
export function useUploads(stored: (document: KnowledgeDocument) => void): Uploads {
  const [list, setList] = useState<readonly Upload[]>([]);
  const waiting = useRef<{ readonly upload: Upload; readonly audience: readonly string[] }[]>([]);
  const running = useRef(0);
  const count = useRef(0);
  const latest = useRef(stored);
  latest.current = stored;

  const change = ({ number }: Upload, values: Partial<Upload>): void =>
    setList((before) => before.map((each) => (each.number === number ? { ...each, ...values } : each)));
  const dismiss = ({ number }: Upload): void => setList((before) => before.filter((each) => each.number !== number));

  async function send(upload: Upload, audience: readonly string[]): Promise<void> {
    if (upload.file.size > bytesMax) {
      change(upload, { state: "failed", error: "The file is larger than 25 MB. Split it." });
      return;
    }
    const form = new FormData();
    if (audience.length > 0) form.append("audience", audience.join(","));
    form.append("file", upload.file);
    change(upload, { state: "sending" });
    try {
      const { document } = await api.upload<OneDocument>("documents/upload", form, (share) =>
        change(upload, { share }),
      );
      dismiss(upload);
      latest.current(document);
    } catch (error) {
      if (!(error instanceof RequestFailed)) console.error(error);
      change(upload, { state: "failed", error: messageOf(error) });
    }
  }

  function next(): void {
    while (running.current < atOnce) {
      const first = waiting.current.shift();
      if (first === undefined) return;
      running.current += 1;
      void send(first.upload, first.audience).finally(() => {
        running.current -= 1;
        next();
      });
    }
  }

  return {
    list,
    dismiss,
    add(files, audience) {
      const added = [...files].map((file): Upload => ({
        number: (count.current += 1),
        file,
        state: "waiting",
        share: 0,
        error: null,
      }));
      setList((before) => [...before, ...added]);
      waiting.current.push(...added.map((upload) => ({ upload, audience })));
      next();
    },
  };
}
