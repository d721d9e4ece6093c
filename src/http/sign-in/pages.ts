import { browserPage, escapeHtml } from "#http/browser-pages.ts";

/** Pages for signing in, which need no script. */

interface SignInPage {
  readonly problem?: string;
  readonly email?: string;
  /** Whether a link that sets a new password can be sent. */
  readonly canMail: boolean;
  /** The way to a provider. */
  readonly provider?: Link | undefined;
}

/** A link that looks like a button. */
export interface Link {
  readonly label: string;
  readonly href: string;
}

export const buttonLink = ({ label, href }: Link, kind: "primary" | "secondary" = "primary"): string =>
  `<a class="${kind}" href="${escapeHtml(href)}">${escapeHtml(label)}</a>`;

export function signInPage({ problem, email = "", canMail, provider }: SignInPage): string {
  // Without an action, the form posts to the current address. Browsers keep its fragment over redirects, so a link to a
  // conversation still opens it after the sign-in.
  return signInFrame(`<h1>Sign in</h1>
${problemText(problem)}
<form method="post">
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="username" required maxlength="200" value="${escapeHtml(email)}"${email === "" ? " autofocus" : ""}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="500"${email === "" ? "" : " autofocus"}>
<button class="primary" type="submit">Sign in</button>
</form>
${provider === undefined ? "" : `<p class="or">${buttonLink(provider, "secondary")}</p>`}
<p class="hint">${canMail ? `<a href="/inbox/login/forgot">Forgot your password?</a>` : "No password? Ask whoever runs this installation for a sign-in link."}</p>`);
}

const problemText = (problem: string | undefined): string =>
  problem === undefined ? "" : `<p class="problem" role="alert">${escapeHtml(problem)}</p>`;

/** Only shown after a correct password. `step` stands for it. */
export function codePage({ step, problem }: { readonly step: string; readonly problem?: string }): string {
  return signInFrame(`<h1>Enter your code</h1>
<p>Open your authenticator app and enter the six digits that it shows, or enter one of your recovery codes.</p>
${problemText(problem)}
<form method="post">
<input type="hidden" name="step" value="${escapeHtml(step)}">
<label for="code">Code</label>
<input id="code" name="code" type="text" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" required maxlength="30" autofocus>
<button class="primary" type="submit">Sign in</button>
</form>
<p class="hint">Lost your phone and your codes? An administrator of your workspace can turn the second factor off.</p>`);
}

interface Choice {
  readonly workspace: string;
  readonly token: string;
}

/** Only shown after a correct password. The form has no action, like the sign-in form. */
export function choicePage(choices: readonly Choice[]): string {
  const buttons = choices.map(
    ({ workspace, token }, i) =>
      `<li><button class="primary" type="submit" name="choice" value="${token}"${i === 0 ? " autofocus" : ""}>${escapeHtml(workspace)}</button></li>`,
  );
  return signInFrame(`<h1 id="choose">Choose a workspace</h1>
<p>You can sign in to ${choices.length} workspaces. To change later, sign out and in again.</p>
<form method="post"><ul class="choices" aria-labelledby="choose">${buttons.join("\n")}</ul></form>`);
}

/** Opening the link does not use it up, because mail scanners open links. */
export const linkPage = signInFrame(`<h1>Sign in</h1>
<p>This link works once. Press the button to sign in on this device.</p>
<form method="post">
<button class="primary" type="submit" autofocus>Sign in</button>
</form>`);

export const spentLinkPage = signInFrame(`<h1>This link does not work any more</h1>
<p>Sign-in links work once and for a day. Ask for a new one, or sign in with your password.</p>
<p><a class="primary" href="/inbox/login">Sign in with a password</a></p>`);

export function refusedPage(detail: string): string {
  return signInFrame(`<h1>That did not work</h1>
<p class="problem" role="alert">${escapeHtml(detail)}</p>
<p><a class="primary" href="/inbox/login">Back to sign-in</a></p>`);
}

export function signInFrame(body: string, title = "Sign in"): string {
  return browserPage(
    title,
    `<main class="door"><div class="card"><span class="mark" aria-hidden="true"></span>${body}</div></main>`,
  );
}
