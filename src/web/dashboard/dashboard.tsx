import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button, Empty } from "#web/shared/ui/elements.tsx";
import { NoticePlace } from "#web/shared/ui/notice-place.tsx";
import { account } from "./pages/account/page.tsx";
import { Navigation } from "./navigation.tsx";
import { CanWriteContext, DashboardContext, useDashboard, useListedPages } from "./store.ts";
import type { DashboardStore } from "./store.ts";
import type { Role } from "./page.ts";
import { icons } from "./ui/icons.ts";
import { Callout } from "./ui/marks.tsx";
import { PageHead } from "./ui/page.tsx";

export const Dashboard = ({ store }: { readonly store: DashboardStore }) => (
  <DashboardContext.Provider value={store}>
    <a class="skip" href="#content">
      Skip to the page
    </a>
    <div class="dashboard">
      <Sidebar />
      <TopBar />
      <main id="content" class="content" tabIndex={-1}>
        <CurrentPage />
      </main>
    </div>
    <NoticePlace notices={store.notices} />
  </DashboardContext.Provider>
);

const Sidebar = () => (
  <header class="sidebar">
    <Navigation />
  </header>
);

/** On phones: the name of the workspace, and a button that opens the menu. */
function TopBar() {
  const { me, router } = useDashboard();
  const [isOpen, setOpen] = useState(false);
  const { route } = router;
  const place = useRef<HTMLDialogElement>(null);
  const close = (): void => place.current?.close();
  useLayoutEffect(() => {
    if (isOpen) place.current?.showModal();
  }, [isOpen]);
  // A chosen page closes the menu.
  useLayoutEffect(close, [route.value.page, route.value.id]);
  return (
    <header class="top-bar">
      <Button label="Menu" kind="icon" shape={icons.menu} aria-expanded={isOpen} onClick={() => setOpen(true)} />
      <span class="workspace" dir="auto">
        {me.value.workspace.name}
      </span>
      {isOpen && (
        <dialog
          ref={place}
          class="drawer"
          aria-label="Menu"
          onClose={() => setOpen(false)}
          // A click on the backdrop is a click on the dialog itself.
          onClick={({ target, currentTarget }) => target === currentTarget && close()}
        >
          <Button label="Close the menu" kind="icon drawer-close" shape="close" onClick={close} />
          <Navigation />
        </dialog>
      )}
    </header>
  );
}

/** The page that the address names. Another page or thing begins with new components. */
function CurrentPage() {
  const { router, me, pages } = useDashboard();
  const listed = useListedPages();
  const { page: asked, id } = router.route.value;
  const path = me.value.agent.lacks_second_factor ? account.path : asked;
  const page = listed.find((each) => each.path === path);
  if (page === undefined) {
    const { role } = me.value.agent;
    return role === "agent" || pages.some((each) => each.path === path) ? (
      <ForAdministrators role={role} />
    ) : (
      <NotFound />
    );
  }
  const canWrite = (page.writers ?? ["admin"]).includes(me.value.agent.role);
  return (
    <CanWriteContext.Provider value={canWrite}>
      <div class="page" key={`${path}/${id ?? ""}`}>
        {!canWrite && path !== "" && (
          <Callout>
            <p>You can read this page. Administrators can change it.</p>
          </Callout>
        )}
        {page.render(id)}
      </div>
    </CanWriteContext.Provider>
  );
}

const Instead = (props: { readonly title: string; readonly children: ComponentChildren }) => (
  <div class="page" key={props.title}>
    <PageHead title={props.title} />
    {props.children}
  </div>
);

const NotFound = () => (
  <Instead title="Page not found">
    <Empty shape="search" title="There is no page at this address">
      <p>It was moved, or the link is wrong.</p>
      <a class="secondary" href="/dashboard">
        Go to the overview
      </a>
    </Empty>
  </Instead>
);

const ForAdministrators = ({ role }: { readonly role: Role }) => (
  <Instead title={role === "agent" ? "Dashboard" : "For administrators"}>
    <Empty shape="lock" title={`${role === "agent" ? "The dashboard" : "This page"} is for administrators`}>
      <p>Your role is {role}. Ask an administrator of this workspace for another role.</p>
      <a class="primary" href={role === "agent" ? "/inbox" : "/dashboard"}>
        {role === "agent" ? "Go to the inbox" : "Go to the overview"}
      </a>
    </Empty>
  </Instead>
);
