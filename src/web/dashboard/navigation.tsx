import { useLayoutEffect, useRef } from "preact/hooks";
import { Avatar, Button, Icon } from "#web/shared/ui/elements.tsx";
import { groups } from "./page.ts";
import { addressOf } from "./router.ts";
import { useDashboard, useListedPages } from "./store.ts";

/** The workspace, links to pages in their groups, the way to the inbox, and the agent. */
export function Navigation() {
  const { me, router } = useDashboard();
  const { agent, workspace } = me.value;
  const { page } = router.route.value;
  const links = useRef<HTMLElement>(null);
  // The menu scrolls on low screens.
  useLayoutEffect(() => {
    links.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }, [page]);
  return (
    <>
      <div class="brand">
        <span class="mark" aria-hidden="true" />
        <span class="workspace" dir="auto">
          {workspace.name}
        </span>
      </div>
      <nav ref={links} aria-label="Dashboard">
        <PageLinks />
      </nav>
      <div class="sidebar-foot">
        <a class="nav-link" href="/inbox">
          <Icon name="inbox" />
          Inbox
        </a>
        <div class="signed-in">
          <Avatar name={agent.name} />
          <span class="agent">
            <b dir="auto">{agent.name}</b>
            <small>{roleNames[agent.role]}</small>
          </span>
          <form method="post" action="/inbox/logout">
            <Button label="Sign out" kind="icon" shape="leave" type="submit" />
          </form>
        </div>
      </div>
    </>
  );
}

const roleNames = { admin: "Administrator", agent: "Agent", viewer: "Viewer" } as const;

function PageLinks() {
  const listed = useListedPages();
  const { page } = useDashboard().router.route.value;
  const filled = groups
    .map((group) => ({ group, pages: listed.filter((each) => each.group === group) }))
    .filter(({ pages }) => pages.length > 0);
  return (
    <>
      {filled.map(({ group, pages }) => (
        <div key={group} class="nav-group">
          {group !== groups[0] && <p class="nav-title">{group}</p>}
          <ul aria-label={group}>
            {pages.map(({ path, label, icon }) => (
              <li key={path}>
                <a class="nav-link" href={addressOf(path)} aria-current={path === page ? "page" : undefined}>
                  <Icon name={icon} />
                  {label}
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </>
  );
}
