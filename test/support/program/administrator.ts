import { createLoginToken } from "#admin/team/login-links.ts";
import type { Store } from "#database/contract.ts";
import { systemClock } from "#runtime/clock.ts";
import { cookieOf } from "../http/inbox.ts";

export interface AdministrationAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** A session of an agent, which every process of the installation accepts. */
export interface AgentSession {
  readonly cookie: string;
  /** Calls `/admin/v1` of the process at this address. */
  call(url: string, method: string, path: string, body?: unknown): Promise<AdministrationAnswer>;
}

/** Signs an agent in at the process at `url`. */
export async function signIn(store: Store, url: string, agentId: string): Promise<AgentSession> {
  const token = await createLoginToken(store, systemClock, agentId);
  const answer = await fetch(`${url}/inbox/login/${token}`, {
    method: "POST",
    headers: { origin: url },
    redirect: "manual",
  });
  const cookie = cookieOf(answer);
  return {
    cookie,
    async call(to, method, path, body) {
      const response = await fetch(`${to}/admin/v1/${path}`, {
        method,
        headers: {
          cookie,
          "sec-fetch-site": "same-origin",
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, body: text === "" ? undefined : (JSON.parse(text) as unknown) };
    },
  };
}
