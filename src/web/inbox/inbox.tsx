import { useLayoutEffect } from "preact/hooks";
import { DetailsPane } from "./details-pane.tsx";
import { Dialogs } from "./dialogs.tsx";
import type { InboxStore } from "./inbox-store.ts";
import { InboxContext, useInbox } from "./inbox-store.ts";
import { ListPane } from "./list/pane.tsx";
import { NoticePlace } from "#web/shared/ui/notice-place.tsx";
import { ThreadPane } from "./thread/pane.tsx";

const leftToRight = "\u200e";
const waitingMax = 100;

export const Inbox = ({ store }: { readonly store: InboxStore }) => (
  <InboxContext.Provider value={store}>
    {/* The list, which names the workspace, is not shown on a phone beside a conversation. */}
    <h1 class="unseen">Inbox of {store.me.workspace.name}</h1>
    <Panes />
    <NoticePlace notices={store.notices} />
    <Dialogs />
  </InboxContext.Provider>
);

function Panes() {
  const { open, isShowingDetails } = useInbox();
  useTitle();
  useTitleFocus();
  const hasThread = open.selected.value !== undefined ? " with-thread" : "";
  const hasDetails = isShowingDetails.value ? " with-details" : "";
  return (
    <div class={`inbox${hasThread}${hasDetails}`}>
      <ListPane />
      <ThreadPane />
      <DetailsPane />
    </div>
  );
}

/** The title of the page: how many conversations wait, and who is being written to. */
function useTitle(): void {
  const { list, open, me } = useInbox();
  const waiting = (list.counts.value?.escalated ?? 0) + (list.counts.value?.mine ?? 0);
  const count = waiting > 0 ? `(${waiting >= waitingMax ? "99+" : waiting}) ` : "";
  const name = open.conversation.value?.customer.label ?? "Inbox";
  // Without the mark a title that begins with a right-to-left name would be shown from right to left as a whole.
  const title = `${leftToRight}${count}${name} · ${me.workspace.name}`;
  useLayoutEffect(() => void (document.title = title), [title]);
}

/** Moves the focus to the conversation when it is shown: on a phone it replaces the list. */
function useTitleFocus(): void {
  const id = useInbox().open.conversation.value?.id;
  useLayoutEffect(() => {
    if (id === undefined || document.activeElement?.matches(".composer *, .details-pane *") === true) return;
    document.querySelector<HTMLElement>("#thread-title")?.focus({ preventScroll: true });
  }, [id]);
}
