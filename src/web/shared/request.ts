/**
 * A request that failed; the message is the server's reason, or a sentence in its place. `status` 0: there was no
 * answer. `code` and `answer` are the server's, where it answered in JSON.
 */
export class RequestFailed extends Error {
  readonly status: number;
  readonly code: string | null;
  readonly answer: unknown;

  constructor(status: number, message: string, answer: unknown = null, options?: ErrorOptions) {
    super(message, options);
    this.name = "RequestFailed";
    this.status = status;
    this.code = textIn(answer, "code") ?? null;
    this.answer = answer;
  }
}

const timeoutMs = 20_000;

/** A function that sends JSON below `base`. `signIn`: the page that a request without a session leads to. */
export function createRequest(base: string, signIn: () => string) {
  return async function request(method: string, path: string, body?: unknown): Promise<unknown> {
    let response: Response;
    try {
      response = await fetch(base + path, {
        method,
        credentials: "same-origin",
        // Browsers let requests of the same address wait for each other where the answer might be cached.
        cache: "no-store",
        signal: AbortSignal.timeout(timeoutMs),
        ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
      });
    } catch (error) {
      throw new RequestFailed(0, "The server cannot be reached. Check the connection and try again.", null, {
        cause: error,
      });
    }
    if (response.status === 204) return undefined;
    const type = response.headers.get("content-type") ?? "";
    const answer: unknown = /^application\/(?:problem\+)?json/u.test(type) ? await response.json() : undefined;
    if (response.ok) return answer;
    if (response.status === 401) location.assign(signIn());
    throw failure(response.status, answer);
  };
}

/** Uploads a file, or a form with one; `progress` gets the share that was sent, 0 to 1, which only XMLHttpRequest reports. */
export function uploadTo(
  address: string,
  file: Blob | FormData,
  signal: AbortSignal,
  progress: (share: number) => void,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const upload = new XMLHttpRequest();
    upload.open("POST", address);
    // The browser names the type of a form, with its boundary.
    if (file instanceof Blob) upload.setRequestHeader("content-type", "application/octet-stream");
    upload.responseType = "json";
    upload.upload.addEventListener("progress", ({ loaded, total }) => progress(total === 0 ? 0 : loaded / total));
    upload.addEventListener("load", () => {
      const answer: unknown = upload.response;
      if (upload.status >= 200 && upload.status < 300) resolve(answer);
      else reject(failure(upload.status, answer));
    });
    upload.addEventListener("error", () => reject(new RequestFailed(0, "The connection broke.")));
    signal.addEventListener("abort", () => upload.abort());
    upload.send(file);
  });
}

const failure = (status: number, answer: unknown): RequestFailed =>
  new RequestFailed(status, textIn(answer, "detail") ?? `The server answered with an error (${status}).`, answer);

function textIn(answer: unknown, name: string): string | undefined {
  const value: unknown = typeof answer === "object" && answer !== null ? Reflect.get(answer, name) : undefined;
  return typeof value === "string" ? value : undefined;
}
