import type { ClientFrame, ExchangeAnswer } from "../../frames.ts";
import type { OpenLink } from "./link.ts";
import { lostCode } from "./link.ts";

/** A request that waits longer than this is lost. The server answers after 25 seconds. */
const answerMs = 40_000;
/** A server that answers at once, again and again, must not be asked in a loop. */
const pauseMs = 100;

const codes: Readonly<Record<number, number>> = { 403: 4403, 429: 4429, 400: 4400 };

/** The frames of a connection over HTTP: one request always waits for news, and each frame is sent with one of its own. */
export const openHttpLink: OpenLink = (base, query, { hello, frame, closed }) => {
  const ended = new AbortController();
  let queue = Promise.resolve();

  const exchange = async (frames: readonly ClientFrame[], waits: boolean): Promise<void> => {
    const url = new URL("widget/exchange", base);
    url.search = query.toString();
    if (waits) url.searchParams.set("wait", "1");
    const timer = setTimeout(lost, answerMs);
    const response = await fetch(url, {
      method: "POST",
      // With this type, browsers ask no permission of the server first.
      headers: { "content-type": "text/plain" },
      body: [hello(), ...frames].map((each) => JSON.stringify(each)).join("\n"),
      signal: ended.signal,
    });
    if (!response.ok) return end(codes[response.status] ?? lostCode);
    const answer = (await response.json()) as ExchangeAnswer;
    clearTimeout(timer);
    for (const each of answer.frames) if (!ended.signal.aborted) frame(each);
    if (answer.close !== null) end(answer.close);
  };

  const end = (code: number): void => {
    if (ended.signal.aborted) return;
    ended.abort();
    closed(code);
  };
  const lost = (): void => end(lostCode);

  const waitForNews = async (): Promise<void> => {
    // Without the wait: the first answer shows that the server is reached.
    await exchange([], false);
    while (!ended.signal.aborted) {
      await exchange([], true);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };
  waitForNews().catch(lost);

  return {
    send(given) {
      if (ended.signal.aborted) return false;
      // One after the other, so that messages arrive in their order.
      queue = queue.then(() => exchange([given], false)).catch(lost);
      return true;
    },
    close: () => ended.abort(),
  };
};
