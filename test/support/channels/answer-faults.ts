import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A platform's answer to one call, in place of the right one. */
export interface AnswerFault {
  readonly name: string;
  /** Whether the platform does what it is asked for. */
  readonly taken: boolean;
  /** Only where it can be waited for. */
  readonly slow?: true;
  answer(response: ServerResponse, body: Buffer): void;
}

type Headers = Readonly<Record<string, string>>;

const page = "<html><head><title>502 Bad Gateway</title></head><body><center>nginx</center></body></html>";
const html: Headers = { "content-type": "text/html" };
const json: Headers = { "content-type": "application/json" };

const says =
  (status: number, headers: Headers, text: string): AnswerFault["answer"] =>
  (response) => {
    response.writeHead(status, headers);
    response.end(text);
  };

/** What the platforms' own errors look like; each reads what it knows. */
const ownError = (status: number): string =>
  JSON.stringify({
    ok: false,
    error_code: status,
    description: "Internal Server Error",
    error: "internal_error",
    code: 0,
    message: "Internal Server Error",
    status,
    type: "error.list",
    errors: [{ code: "server_error", message: "Internal Server Error" }],
  });

const taken = { taken: true };
const not = { taken: false };

export const answerFaults: readonly AnswerFault[] = [
  { name: "5xx of the platform's own", ...not, answer: says(500, json, ownError(500)) },
  { name: "5xx without a body, not taken", ...not, answer: says(500, {}, "") },
  { name: "5xx without a body, taken", ...taken, answer: says(500, {}, "") },
  { name: "502 in HTML, not taken", ...not, answer: says(502, html, page) },
  { name: "502 in HTML, taken", ...taken, answer: says(502, html, page) },
  { name: "503 in HTML", ...not, answer: says(503, html, page) },
  { name: "504 in HTML, taken", ...taken, answer: says(504, html, page) },
  { name: "403 in HTML", ...not, answer: says(403, html, page) },
  { name: "200 in HTML, not taken", ...not, answer: says(200, html, page) },
  { name: "empty 200, not taken", ...not, answer: says(200, {}, "") },
  { name: "empty 200, taken", ...taken, answer: says(200, json, "") },
  {
    name: "truncated JSON, taken",
    ...taken,
    answer: (response, body) =>
      says(200, json, body.subarray(0, Math.max(1, body.length / 2)).toString())(response, body),
  },
  { name: "JSON of another shape, taken", ...taken, answer: says(200, json, '{"data":[1]}') },
  { name: "an empty object, not taken", ...not, answer: says(200, json, "{}") },
  { name: "429 with retry-after", ...not, answer: says(429, { ...json, "retry-after": "3" }, ownError(429)) },
  { name: "429 without retry-after", ...not, answer: says(429, json, ownError(429)) },
  { name: "429 in HTML", ...not, answer: says(429, html, page) },
  { name: "reset before it was taken", ...not, answer: (response) => void response.socket?.resetAndDestroy() },
  { name: "reset after it was taken", ...taken, answer: (response) => void response.socket?.resetAndDestroy() },
  { name: "no answer in time, taken", ...taken, slow: true, answer: () => undefined },
];

interface Waiting {
  readonly isMeant: (method: string, path: string) => boolean;
  readonly fault: AnswerFault;
}

const waiting = new Map<number, Waiting[]>();

/** The next call of the fake platform at this port for which `isMeant` holds is answered so. */
export function answerNext(port: number, isMeant: Waiting["isMeant"], fault: AnswerFault): void {
  waiting.set(port, [...(waiting.get(port) ?? []), { isMeant, fault }]);
}

/** Calls that wait for their fault still. */
export const answersLeft = (port: number): number => waiting.get(port)?.length ?? 0;

/** Stands before what the server does with requests. */
export function interceptAnswers(server: Server): void {
  const handlers = server.listeners("request") as ((request: IncomingMessage, response: ServerResponse) => void)[];
  server.removeAllListeners("request");
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const { port } = server.address() as AddressInfo;
    const list = waiting.get(port) ?? [];
    const at = list.findIndex(({ isMeant }) => isMeant(request.method ?? "", request.url ?? ""));
    const [found] = at === -1 ? [] : list.splice(at, 1);
    if (found === undefined) {
      for (const handle of handlers) handle(request, response);
      return;
    }
    const { fault } = found;
    if (fault.taken) {
      afterwards(response, (body) => fault.answer(response, body));
      for (const handle of handlers) handle(request, response);
      return;
    }
    request.resume();
    request.once("end", () => fault.answer(response, Buffer.from("{}")));
  });
}

/** Holds back what is answered, and gives it to `then`. */
function afterwards(response: ServerResponse, then: (body: Buffer) => void): void {
  const own = {
    writeHead: response.writeHead,
    setHeader: response.setHeader,
    write: response.write,
    end: response.end,
  };
  const pieces: Buffer[] = [];
  const keep = (piece: unknown): void => {
    if (typeof piece === "string" || piece instanceof Uint8Array) pieces.push(Buffer.from(piece as string));
  };
  const held = {
    writeHead: () => response,
    setHeader: () => response,
    write: (piece: unknown) => {
      keep(piece);
      return true;
    },
    end: (piece: unknown) => {
      keep(piece);
      Object.assign(response, own);
      then(Buffer.concat(pieces));
      return response;
    },
  };
  Object.assign(response, held);
}
