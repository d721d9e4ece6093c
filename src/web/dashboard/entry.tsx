import { render } from "preact";
import { startClocks } from "#web/shared/ui/clocks.tsx";
import { keepFocus } from "#web/shared/ui/focus.ts";
import { setServerTime } from "#web/shared/ui/time.ts";
import { api } from "./api.ts";
import { Dashboard } from "./dashboard.tsx";
import { pages } from "./pages.ts";
import type { Me } from "./store.ts";
import { createDashboardStore } from "./store.ts";

async function start(root: HTMLElement): Promise<void> {
  const me = await api.get<Me>("me");
  setServerTime(Date.parse(me.now));
  const store = createDashboardStore(me, pages);
  // A removed row or a button that was used up leaves the focus with the heading.
  keepFocus(document.body, { near: [], anywhere: ["h1"] });
  root.replaceChildren();
  render(<Dashboard store={store} />, root);
  store.router.start();
  startClocks();
}

const Failed = ({ error }: { readonly error: unknown }) => (
  <div class="door">
    <div class="card" role="alert">
      <h1>The dashboard could not be loaded</h1>
      <p>{error instanceof Error ? error.message : "The dashboard could not be started."}</p>
      <a class="primary" href="/dashboard">
        Load again
      </a>
    </div>
  </div>
);

const root = document.querySelector<HTMLElement>("#dashboard");
if (root !== null) {
  start(root).catch((error: unknown) => {
    console.error(error);
    root.replaceChildren();
    render(<Failed error={error} />, root);
  });
}
