import type { UploadRefusal, UploadedFile } from "../../frames.ts";
import type { Settings } from "../settings.ts";

export class UploadRefused extends Error {
  readonly code: UploadRefusal;
  constructor(code: UploadRefusal) {
    super(code);
    this.code = code;
  }
}

/** Rejects with {@link UploadRefused}. `progress` is called with the share that has been sent, 0 to 1. */
export function uploadFile(
  { base, workspace, channel }: Settings,
  token: string,
  file: File,
  signal: AbortSignal,
  progress: (share: number) => void,
): Promise<UploadedFile> {
  const url = new URL("widget/files", base);
  url.search = new URLSearchParams({ workspace, channel, name: file.name, type: file.type }).toString();
  return new Promise((resolve, reject) => {
    // `fetch` reports no progress of uploads.
    const request = new XMLHttpRequest();
    request.open("POST", url);
    request.setRequestHeader("authorization", `Bearer ${token}`);
    request.setRequestHeader("content-type", "application/octet-stream");
    request.responseType = "json";
    request.upload.addEventListener("progress", ({ loaded, total }) => progress(total === 0 ? 0 : loaded / total));
    request.addEventListener("load", () => {
      const answer = request.response as UploadedFile | { readonly code?: UploadRefusal } | null;
      if (request.status === 200 && answer !== null && "id" in answer) return resolve(answer);
      const code = answer !== null && "code" in answer ? answer.code : undefined;
      reject(new UploadRefused(code ?? "unavailable"));
    });
    request.addEventListener("error", () => reject(new UploadRefused("unavailable")));
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}
