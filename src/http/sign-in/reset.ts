import { Type } from "typebox";
import { Problem } from "#domain/problem.ts";
import { agentOfPasswordLink, requestReset, resetPassword } from "#admin/sign-in/password-reset.ts";
import type { App } from "#http/app-type.ts";
import { escapeHtml, sendPage } from "#http/browser-pages.ts";
import type { InboxDependencies } from "#http/inbox/dependencies.ts";
import { hidden } from "#http/inbox/resources/schemas.ts";
import { countAttempt } from "./attempts.ts";
import { asRefusal, formBytesMax } from "./entrance.ts";
import { refusedPage, signInFrame } from "./pages.ts";

const oneToken = { schema: { hide: true, params: Type.Object({ token: Type.String() }) } };

/** Setting a forgotten password by a link, in a mail or from an administrator, without JavaScript. */
export function registerPasswordReset(
  scope: App,
  { store, clock, canMail }: Pick<InboxDependencies, "store" | "clock" | "canMail">,
): void {
  if (canMail) registerForgotten(scope, { store, clock });
  const spentPage = spentPageOf(canMail);

  scope.get("/login/reset/:token", oneToken, async (request, reply) => {
    const agent = await agentOfPasswordLink(store.read, request.params.token, clock.now());
    return agent === undefined ? sendPage(reply, 404, spentPage) : sendPage(reply, 200, resetPage(agent.email));
  });

  scope.post("/login/reset/:token", { ...oneToken, bodyLimit: formBytesMax }, async (request, reply) => {
    const { token } = request.params;
    const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
    const email = (await agentOfPasswordLink(store.read, token, clock.now()))?.email;
    try {
      const attempt = await countAttempt(store, clock, request.remoteAddress, email);
      if (email === undefined) return await sendPage(reply, 404, spentPage);
      const isSet = await resetPassword(store, clock, token, form.get("password") ?? "");
      if (!isSet) return await sendPage(reply, 404, spentPage);
      await attempt.succeeded();
      return await sendPage(reply, 200, donePage);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const { status, message } = error;
      return sendPage(reply, status, email === undefined ? refusedPage(message) : resetPage(email, message));
    }
  });
}

/** The request for a mail with a link. */
function registerForgotten(scope: App, { store, clock }: Pick<InboxDependencies, "store" | "clock">): void {
  scope.get("/login/forgot", hidden, async (_request, reply) => sendPage(reply, 200, forgotPage()));

  scope.post("/login/forgot", { ...hidden, bodyLimit: formBytesMax }, async (request, reply) => {
    const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
    const email = (form.get("email") ?? "").slice(0, 200);
    try {
      await countAttempt(store, clock, request.remoteAddress, email, "reset");
    } catch (error) {
      const { message, status } = asRefusal(error);
      return sendPage(reply, status, forgotPage(message));
    }
    await requestReset(store, clock, email);
    return sendPage(reply, 200, sentPage);
  });
}

const problemText = (problem: string | undefined): string =>
  problem === undefined ? "" : `<p class="problem" role="alert">${escapeHtml(problem)}</p>`;

const forgotPage = (problem?: string): string =>
  signInFrame(`<h1>Set a new password</h1>
<p>Enter the address that you sign in with. We send you a link.</p>
${problemText(problem)}
<form method="post">
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="username" required maxlength="200" autofocus>
<button class="primary" type="submit">Send the link</button>
</form>
<p class="hint"><a href="/inbox/login">Back to sign-in</a></p>`);

/** The same for known and unknown addresses. */
const sentPage = signInFrame(`<h1>Look into your mail</h1>
<p>If an account has this address, a link is on its way to it. It works once and for an hour.</p>
<p class="hint"><a href="/inbox/login">Back to sign-in</a></p>`);

const resetPage = (email: string, problem?: string): string =>
  signInFrame(`<h1>Set a new password</h1>
<p>Choose a password of at least 10 characters. You are signed out everywhere.</p>
${problemText(problem)}
<form method="post">
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="username" readonly value="${escapeHtml(email)}">
<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="10" maxlength="500" autofocus>
<button class="primary" type="submit">Save the password</button>
</form>`);

const donePage = signInFrame(`<h1>Password saved</h1>
<p>Sign in with it now.</p>
<p><a class="primary" href="/inbox/login">Sign in</a></p>`);

const spentPageOf = (canMail: boolean): string =>
  signInFrame(`<h1>This link does not work any more</h1>
<p>Links to set a password work once: an hour from a mail, a day from an administrator.</p>
${
  canMail
    ? `<p><a class="primary" href="/inbox/login/forgot">Ask for a new link</a></p>`
    : `<p>Ask an administrator for a new link.</p>`
}`);
