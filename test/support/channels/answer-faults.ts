import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A platform's answer to one call, in place of the correct one. */
export interface AnswerFault {
  readonly name: string;
  /** Whether the platform carries out the call. */
  readonly taken: boolean;
  /** The fault takes real time, so that only some tests use it. */
  readonly slow?: true;
  answer(response: ServerResponse, body: Buffer): void;
}

type Headers = Readonly<Record<string, string>>;

const page = "<html><head><title>502 Bad Gateway</title></head><body><center>nginx</center></body></html>";
const html: Headers = { "content-type": "text/html" };
const json: Headers = { "content-type": "application/json" };

const responds =
  (status: number, headers: Headers, text: string): AnswerFault["answer"] =>
  (response) => {
    response.writeHead(status, headers);
    response.end(text);
  };

/** An error that is valid on every platform: each adapter reads the fields that it knows. */
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
  { name: "5xx of the platform's own", ...not, answer: responds(500, json, ownError(500)) },
  { name: "5xx without a body, not taken", ...not, answer: responds(500, {}, "") },
  { name: "5xx without a body, taken", ...taken, answer: responds(500, {}, "") },
  { name: "502 in HTML, not taken", ...not, answer: responds(502, html, page) },
  { name: "502 in HTML, taken", ...taken, answer: responds(502, html, page) },
  { name: "503 in HTML", ...not, answer: responds(503, html, page) },
  { name: "504 in HTML, taken", ...taken, answer: responds(504, html, page) },
  { name: "403 in HTML", ...not, answer: responds(403, html, page) },
  { name: "200 in HTML, not taken", ...not, answer: responds(200, html, page) },
  { name: "empty 200, not taken", ...not, answer: responds(200, {}, "") },
  { name: "empty 200, taken", ...taken, answer: responds(200, json, "") },
  {
    name: "truncated JSON, taken",
    ...taken,
    answer: (response, body) =>
      responds(200, json, body.subarray(0, Math.max(1, body.length / 2)).toString())(response, body),
  },
  { name: "JSON of another shape, taken", ...taken, answer: responds(200, json, '{"data":[1]}') },
  { name: "an empty object, not taken", ...not, answer: responds(200, json, "{}") },
  { name: "429 with retry-after", ...not, answer: responds(429, { ...json, "retry-after": "3" }, ownError(429)) },
  { name: "429 without retry-after", ...not, answer: responds(429, json, ownError(429)) },
  { name: "429 in HTML", ...not, answer: responds(429, html, page) },
  { name: "reset before it was taken", ...not, answer: (response) => void response.socket?.resetAndDestroy() },
  { name: "reset after it was taken", ...taken, answer: (response) => void response.socket?.resetAndDestroy() },
  { name: "no answer in time, taken", ...taken, slow: true, answer: () => undefined },
];

interface PlannedAnswer {
  readonly isMeant: (method: string, path: string) => boolean;
  readonly fault: AnswerFault;
}

const planned = new Map<number, PlannedAnswer[]>();

/** Answers the next call of the fake platform at this port for which `isMeant` holds with `fault`. */
export function answerNext(port: number, isMeant: PlannedAnswer["isMeant"], fault: AnswerFault): void {
  planned.set(port, [...(planned.get(port) ?? []), { isMeant, fault }]);
}

/** Faults at this port that no call has met yet. */
export const answersLeft = (port: number): number => planned.get(port)?.length ?? 0;

/** Wraps the request handlers of a server, so that `answerNext` can replace their answers. */
export function interceptAnswers(server: Server): void {
  const handlers = server.listeners("request") as ((request: IncomingMessage, response: ServerResponse) => void)[];
  server.removeAllListeners("request");
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const { port } = server.address() as AddressInfo;
    const list = planned.get(port) ?? [];
    const at = list.findIndex(({ isMeant }) => isMeant(request.method ?? "", request.url ?? ""));
    const [found] = at === -1 ? [] : list.splice(at, 1);
    if (found === undefined) {
      for (const handle of handlers) handle(request, response);
      return;
    }
    const { fault } = found;
    if (fault.taken) {
      captureResponse(response, (body) => fault.answer(response, body));
      for (const handle of handlers) handle(request, response);
      return;
    }
    request.resume();
    request.once("end", () => fault.answer(response, Buffer.from("{}")));
  });
}

/** Captures the response instead of sending it, and passes its body to `then`. */
function captureResponse(response: ServerResponse, then: (body: Buffer) => void): void {
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
