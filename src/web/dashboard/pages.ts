import type { DashboardPage } from "./page.ts";
import { account } from "./pages/account/page.tsx";
import { answersPage } from "./pages/answers/page.tsx";
import { apiKeys } from "./pages/api-keys/page.tsx";
import { audit } from "./pages/audit/page.tsx";
import { customersPage } from "./pages/customers/page.tsx";
import { documents } from "./pages/documents/page.tsx";
import { channelsPage } from "./pages/channels/page.tsx";
import { home } from "./pages/home/page.tsx";
import { reportsPage } from "./pages/reports/page.tsx";
import { webhooks } from "./pages/webhooks/page.tsx";
import { team } from "./pages/team/page.tsx";
import { settingsPage } from "./pages/settings/page.tsx";
import { signIn } from "./pages/sign-in/page.tsx";
import { widgetPage } from "./pages/widget/page.tsx";
import { questions } from "./pages/questions/page.tsx";
import { automationPage } from "./pages/automation/rules/page.tsx";
import { macrosPage } from "./pages/automation/macros/page.tsx";
import { repliesPage } from "./pages/automation/replies/page.tsx";
import { skillsPage } from "./pages/automation/skills/page.tsx";

/** All pages, in the order of the menu. Each one's folder exports it. */
export const pages: readonly DashboardPage[] = [
  home,
  documents,
  channelsPage,
  questions,
  skillsPage,
  reportsPage,
  answersPage,
  apiKeys,
  webhooks,
  widgetPage,
  automationPage,
  repliesPage,
  macrosPage,
  team,
  settingsPage,
  audit,
  customersPage,
  signIn,
  account,
];
