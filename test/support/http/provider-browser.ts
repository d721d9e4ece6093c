import type { TestApp } from "./app.ts";

/** A browser that goes through a provider: it keeps cookies by server, and follows no redirect by itself. */
export interface ProviderBrowser {
  /** Goes from the button to the address that the provider leads back to. */
  authorize(name: string, query?: string): Promise<string>;
  /** Opens an address of the app: its path, or the address below PUBLIC_URL. */
  open(address: string, init?: RequestInit): Promise<Response>;
  /** The whole way to the answer of the last page. */
  signIn(name: string, query?: string): Promise<Response>;
  readonly cookies: Map<string, string>;
}

export function createProviderBrowser(app: TestApp, workspaceId = app.workspace.id): ProviderBrowser {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (origin: string) => {
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    return jar;
  };
  const appOrigin = new URL(app.url).origin;

  async function send(address: string, init: RequestInit = {}): Promise<Response> {
    const url = new URL(address);
    const jar = jarOf(url.origin);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { ...(init.headers as Record<string, string> | undefined), cookie };
    const answer = await fetch(url, { ...init, headers, redirect: "manual" });
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ""] = line.split(";", 1);
      const at = pair.indexOf("=");
      if (/expires=Thu, 01 Jan 1970|max-age=0/iu.test(line)) jar.delete(pair.slice(0, at));
      else jar.set(pair.slice(0, at), pair.slice(at + 1));
    }
    return answer;
  }

  const toApp = (address: string): string => {
    const { pathname, search } = new URL(address, "http://parley.test");
    return `${appOrigin}${pathname}${search}`;
  };
  const isApp = (address: string): boolean => new URL(address, "http://parley.test").hostname === "parley.test";
  const open: ProviderBrowser["open"] = (address, init) => send(toApp(address), init);

  async function authorize(name: string, query = ""): Promise<string> {
    let answer = await open(`/inbox/login/provider/${workspaceId}${query}`);
    for (let at = ""; ;) {
      const location = answer.headers.get("location");
      if (location === null) throw new Error(`no way to the provider: ${answer.status} ${await answer.text()}`);
      at = new URL(location, at === "" ? undefined : at).href;
      if (isApp(at)) return at;
      const isForm = at.includes("/interaction/");
      answer = await send(at, isForm ? { method: "POST", body: new URLSearchParams({ login: name }) } : {});
    }
  }

  return {
    authorize,
    open,
    signIn: async (name, query) => open(await authorize(name, query)),
    cookies: jarOf(appOrigin),
  };
}
