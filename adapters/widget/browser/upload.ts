import type { UploadRefusal, UploadedFile } from "../frames.ts";

export class UploadRefused extends Error {
  readonly code: UploadRefusal;
  constructor(code: UploadRefusal) {
    super(code);
    this.code = code;
  }
}

/** Only this way of asking tells of what has left. */
export function post(
  url: string,
  token: string,
  file: File,
  signal: AbortSignal,
  progress: (share: number) => void,
): Promise<UploadedFile> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", url);
    request.setRequestHeader("authorization", `Bearer ${token}`);
    request.setRequestHeader("content-type", "application/octet-stream");
    request.responseType = "json";
    request.upload.addEventListener("progress", ({ loaded, total }) => progress(total === 0 ? 0 : loaded / total));
    request.addEventListener("load", () => {
      const answer = request.response as UploadedFile | { readonly code?: UploadRefusal } | null;
      if (request.status === 200 && answer !== null && "id" in answer) resolve(answer);
      else
        reject(new UploadRefused(answer !== null && "code" in answer ? (answer.code ?? "unavailable") : "unavailable"));
    });
    request.addEventListener("error", () => reject(new UploadRefused("unavailable")));
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}
