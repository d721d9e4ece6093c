import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { agentTopic } from "#queue/signals/topics.ts";
import { redeemCode } from "#admin/sign-in/code-page.ts";
import { createLoginChoices, redeemLogin } from "#admin/team/login-links.ts";
import { listProviders } from "#admin/sign-in/provider/agents-of-provider.ts";
import { checkPassword } from "#admin/team/passwords.ts";
import { endSession } from "#admin/team/sessions.ts";
import type { App } from "#http/app-type.ts";
import { sendPage } from "#http/browser-pages.ts";
import type { InboxDependencies } from "#http/inbox/dependencies.ts";
import { hidden } from "#http/inbox/resources/schemas.ts";
import type { Attempt } from "./attempts.ts";
import { countAttempt } from "./attempts.ts";
import { asRefusal, createEntrance, formBytesMax, toOf } from "./entrance.ts";
import { choicePage, codePage, linkPage, refusedPage, signInPage, spentLinkPage } from "./pages.ts";
import { providersLink } from "./provider/pages.ts";
import { clearSession, requireKeptSession, sessionToken, signedIn } from "./session.ts";

/** Time to choose a workspace after the password. */
const choiceMs = 10 * 60_000;

type SignInDependencies = Pick<InboxDependencies, "store" | "clock" | "fanout" | "options" | "secrets" | "canMail">;

/** Signing in and out, without JavaScript. */
export function registerSignIn(scope: App, dependencies: SignInDependencies): void {
  const { store, clock, fanout, options, secrets, canMail } = dependencies;
  const entrance = createEntrance(dependencies);

  async function sendForm(
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    shown: { readonly problem?: string; readonly email?: string } = {},
  ): Promise<FastifyReply> {
    const provider = providersLink(await listProviders(store.read), toOf(request));
    return sendPage(reply, status, signInPage({ ...shown, canMail, provider }));
  }

  scope.get("/login", hidden, (request, reply) => sendForm(request, reply, 200));

  scope.post("/login", { ...hidden, bodyLimit: formBytesMax }, async (request, reply) => {
    const fields = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
    const choice = fields.get("choice");
    if (choice !== null) return choose(request, reply, choice);
    const step = fields.get("step");
    if (step !== null) return enterCode(request, reply, step, (fields.get("code") ?? "").slice(0, 50));
    const email = (fields.get("email") ?? "").slice(0, 200);
    const password = (fields.get("password") ?? "").slice(0, 500);
    let attempt: Attempt;
    try {
      requireKeptSession(request, options.publicUrl);
      attempt = await countAttempt(store, clock, request.remoteAddress, email);
    } catch (error) {
      const { message, status } = asRefusal(error);
      return sendForm(request, reply, status, { problem: message, email });
    }
    const [agent, ...others] = await checkPassword(store, email, password);
    if (agent === undefined) {
      const problem = "E-mail address or password are not right.";
      return sendForm(request, reply, 401, { problem, email });
    }
    await attempt.succeeded();
    if (others.length === 0) return entrance.afterPassword(request, reply, agent.id);
    const agents = [agent, ...others];
    const ids = agents.map(({ id }) => id);
    const tokens = await createLoginChoices(store, clock, ids, choiceMs);
    const choices = agents.map(({ workspace }, i) => ({ workspace, token: tokens[i] ?? "" }));
    return sendPage(reply, 200, choicePage(choices));
  });

  async function choose(request: FastifyRequest, reply: FastifyReply, token: string): Promise<FastifyReply> {
    let attempt: Attempt;
    try {
      attempt = await tokenAttempt(dependencies, request);
    } catch (error) {
      const { message, status } = asRefusal(error);
      return sendForm(request, reply, status, { problem: message });
    }
    const agent = await redeemLogin(store, clock, token, "choice");
    if (agent === undefined) {
      return sendForm(request, reply, 401, { problem: "This choice has expired. Please sign in again." });
    }
    await attempt.succeeded();
    return entrance.afterPassword(request, reply, agent.id);
  }

  /** `step`: the token of the page, which stands for the password. */
  async function enterCode(request: FastifyRequest, reply: FastifyReply, step: string, code: string) {
    const result = await redeemCode({ store, clock, secrets }, step, code, (agentId) =>
      countAttempt(store, clock, request.remoteAddress, agentId, "code"),
    ).catch(asRefusal);
    if (result instanceof Error) return sendPage(reply, result.status, codePage({ step, problem: result.message }));
    if (result === "expired") {
      return sendForm(request, reply, 401, { problem: "This page has expired. Please sign in again." });
    }
    if (result === "wrong") {
      return sendPage(reply, 401, codePage({ step, problem: "This code is not right, or was used before." }));
    }
    return entrance.enter(request, reply, result.agentId, "password");
  }

  scope.post("/logout", { ...hidden, bodyLimit: formBytesMax }, async (request, reply) => {
    const token = sessionToken(request);
    const agent = await signedIn(store, clock, request);
    if (token !== undefined) await endSession(store, token);
    // Each live connection of the agent checks whether its session has ended.
    if (agent !== undefined) fanout.publish(agentTopic(agent.id), "{}");
    clearSession(reply);
    return reply.redirect("/inbox/login", 303);
  });

  registerLoginLinks(scope, dependencies, entrance);
}

/** Links that sign in without a password. */
function registerLoginLinks(
  scope: App,
  dependencies: SignInDependencies,
  entrance: ReturnType<typeof createEntrance>,
): void {
  const tokenPath = { schema: { hide: true, params: Type.Object({ token: Type.String() }) } };
  scope.get("/login/:token", tokenPath, async (_request, reply) => sendPage(reply, 200, linkPage));

  scope.post("/login/:token", { ...tokenPath, bodyLimit: formBytesMax }, async (request, reply) => {
    let attempt: Attempt;
    try {
      attempt = await tokenAttempt(dependencies, request);
    } catch (error) {
      const { message, status } = asRefusal(error);
      return sendPage(reply, status, refusedPage(message));
    }
    // Made on the command line, by someone who could read the database: no code is asked for.
    const agent = await redeemLogin(dependencies.store, dependencies.clock, request.params.token, "login_link");
    if (agent === undefined) return sendPage(reply, 401, spentLinkPage);
    await attempt.succeeded();
    return entrance.enter(request, reply, agent.id, "link");
  });
}

function tokenAttempt({ store, clock, options }: SignInDependencies, request: FastifyRequest): Promise<Attempt> {
  requireKeptSession(request, options.publicUrl);
  return countAttempt(store, clock, request.remoteAddress, undefined);
}
