/** Calls the platform; `path` is below the bot's secret address, which no message may show. */
export type Client = (path: string, init: RequestInit) => Promise<Response>;

export const createClient =
  (url: string, token: string): Client =>
  (path, init) =>
    fetch(`${url}/bot-${token}/${path}`, init);
