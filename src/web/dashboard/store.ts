import { signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { createNotices } from "#web/shared/ui/notices.ts";
import { api } from "./api.ts";
import type { DashboardPage, Role } from "./page.ts";
import { createRouter } from "./router.ts";

export interface Me {
  readonly agent: {
    readonly id: string;
    readonly email: string;
    readonly name: string;
    readonly role: Role;
    readonly avatar_url: string | null;
    readonly away: boolean;
    readonly has_password: boolean;
    /** The workspace requires a second factor, and the agent has to set it up first. */
    readonly lacks_second_factor: boolean;
  };
  readonly workspace: { readonly id: string; readonly name: string; readonly plan: string };
  readonly version: string;
  /** The address that customers and platforms reach the installation at. */
  readonly public_url: string;
  /** The server's time. */
  readonly now: string;
}

export type DashboardStore = ReturnType<typeof createDashboardStore>;

/** The state that pages share. A page keeps its own in its components. */
export function createDashboardStore(signedIn: Me, pages: readonly DashboardPage[]) {
  const me = signal(signedIn);
  return {
    me,
    /** All pages, also those that the agent may not see. */
    pages,
    notices: createNotices(),
    router: createRouter(),
    /** Called when a page has changed the agent or the workspace. */
    async reloadMe(): Promise<void> {
      me.value = await api.get<Me>("me");
    },
  };
}

export const DashboardContext = createContext<DashboardStore | undefined>(undefined);

export function useDashboard(): DashboardStore {
  const store = useContext(DashboardContext);
  if (store === undefined) throw new Error("no dashboard above this component");
  return store;
}

/** Pages that the agent sees. */
export function useListedPages(): readonly DashboardPage[] {
  const { me, pages } = useDashboard();
  const { role } = me.value.agent;
  return pages.filter(({ roles }) => roles.includes(role));
}

/** Whether the agent may change what the page shows. */
export const CanWriteContext = createContext(true);

export const useCanWrite = (): boolean => useContext(CanWriteContext);

/** A value of the address' query, and a function that changes it. */
export function useQuery(name: string): readonly [value: string, set: (value: string) => void] {
  const { route, setQuery } = useDashboard().router;
  return [route.value.query.get(name) ?? "", (value) => setQuery({ [name]: value })];
}
