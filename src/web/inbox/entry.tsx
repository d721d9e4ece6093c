import { render } from "preact";
import { startClocks } from "#web/shared/ui/clocks.tsx";
import { keepFocus } from "#web/shared/ui/focus.ts";
import { setServerTime } from "#web/shared/ui/time.ts";
import { Inbox } from "./inbox.tsx";
import { createInboxStore } from "./inbox-store.ts";
import { listenForKeys } from "./keys.ts";
import { api } from "./store/api.ts";
import { setChannelLabels } from "./ui/channel-labels.ts";
import { refuges } from "./ui/focus.ts";

async function start(root: HTMLElement): Promise<void> {
  const me = await api.me();
  setServerTime(me.now);
  setChannelLabels(me.channels);
  const store = createInboxStore(me);
  keepFocus(document.body, refuges);
  root.replaceChildren();
  render(<Inbox store={store} />, root);
  addEventListener("hashchange", () => {
    store.isShowingDetails.value = false;
    store.follow(location.hash);
  });
  listenForKeys(store);
  startClocks();
  store.start(location.hash);
}

const Failed = ({ error }: { readonly error: unknown }) => (
  <div class="door">
    <div class="card" role="alert">
      <h1>The inbox could not be loaded</h1>
      <p>{error instanceof Error ? error.message : "The inbox could not be started."}</p>
      <a class="primary" href="/inbox">
        Load again
      </a>
    </div>
  </div>
);

const root = document.querySelector<HTMLElement>("#inbox");
if (root !== null) {
  start(root).catch((error: unknown) => {
    console.error(error);
    root.replaceChildren();
    render(<Failed error={error} />, root);
  });
}
