import type { Command } from "./command.ts";
import {
  agentCreate,
  agentList,
  agentLogin,
  agentRemove,
  agentAway,
  agentBack,
  keyCreate,
  keyList,
  keyRevoke,
  workspaceCreate,
  workspaceList,
  workspaceRotateSecret,
  workspaceSet,
} from "./workspaces.ts";
import { ask } from "./ask.ts";
import { exportData } from "./export.ts";
import { doctor } from "./doctor.ts";
import { documentsAdd, documentsRecrawl } from "./documents-add.ts";
import { documentsList, documentsRemove } from "./documents.ts";
import { audit, contactMerge, contactShow, contactUnmerge, forget, workspaceDelete } from "./customers.ts";
import { rulesTest } from "./rules.ts";
import { searchRebuild } from "./search.ts";
import { migrate, start } from "./start.ts";
import {
  webhookAdd,
  webhookDeliveriesList,
  webhookDisable,
  webhookEnable,
  webhookList,
  webhookRemove,
  webhookReplay,
  webhookRotate,
  webhookTest,
} from "./webhooks.ts";

/** The commands that use the workspaces of the configuration file, so that all of it has to be right. */
export const usesWorkspaces: ReadonlySet<Command> = new Set([start, doctor, rulesTest]);

export const commands: Readonly<Record<string, Command>> = {
  start,
  migrate,
  doctor,
  ask,
  "workspace create": workspaceCreate,
  "workspace list": workspaceList,
  "workspace set": workspaceSet,
  "workspace rotate-secret": workspaceRotateSecret,
  "workspace delete": workspaceDelete,
  "key create": keyCreate,
  "key list": keyList,
  "key revoke": keyRevoke,
  "agent create": agentCreate,
  "agent list": agentList,
  "agent login": agentLogin,
  "agent remove": agentRemove,
  "agent away": agentAway,
  "agent back": agentBack,
  "contact show": contactShow,
  "contact merge": contactMerge,
  "contact unmerge": contactUnmerge,
  audit,
  export: exportData,
  forget,
  "documents add": documentsAdd,
  "documents list": documentsList,
  "documents recrawl": documentsRecrawl,
  "documents remove": documentsRemove,
  "webhook add": webhookAdd,
  "webhook list": webhookList,
  "webhook remove": webhookRemove,
  "webhook enable": webhookEnable,
  "webhook disable": webhookDisable,
  "webhook test": webhookTest,
  "webhook deliveries": webhookDeliveriesList,
  "webhook replay": webhookReplay,
  "webhook rotate": webhookRotate,
  "search rebuild": searchRebuild,
  "rules test": rulesTest,
};

export const usage = `parley — a support assistant that answers from your documents and hands over to people

  parley start                       run the server
  parley migrate                     bring the database's schema up to date
  parley doctor                      check configuration, database and all that is connected

  parley workspace create --name N [--plan free|starter|growth|business|enterprise]
  parley workspace list
  parley workspace set ID key=value… [--force]
                                     for example strictness=helpful auto_resolve_days=3
  parley workspace rotate-secret ID  a new identity secret, shown once
  parley workspace delete ID [--yes]   remove it with everything in it

  parley key create --workspace W --name N [--limit-minute n] [--limit-day n] [--expires ISO]
  parley key list --workspace W
  parley key revoke ID

  parley agent create --workspace W --email E --name N [--role agent|admin] [--password P]
  parley agent list [--workspace W]
  parley agent login --workspace W --email E   a link that signs in once
  parley agent remove --workspace W --email E
  parley agent away|back --workspace W --email E   whether rules assign conversations to them

  parley contact show --workspace W ID|--email E
  parley contact merge --workspace W FROM INTO
  parley contact unmerge --workspace W ID

  parley audit --workspace W [--conversation C] [--since ISO] [--limit n]
  parley export --workspace W [--email E] --out FILE [--force]   FILE -: standard output
  parley forget --workspace W --email E [--yes]   erase a customer

  parley documents add --workspace W [--audience TAG,TAG] [--max-pages n] [--sitemap URL] FILE-or-URL…
  parley documents list --workspace W [--status S]
  parley documents recrawl --workspace W ID…
  parley documents remove --workspace W ID…|--manual

  parley webhook add --workspace W --url U [--events a,b]
  parley webhook list [--workspace W]
  parley webhook remove|enable|disable|test|rotate ID
  parley webhook deliveries [ID] [--workspace W] [--event EVENT_ID] [--failed] [--limit n]
  parley webhook replay EVENT_ID [ID]          or: replay ID --failed, replay ID --since ISO [--until ISO]

  parley search rebuild [--workspace W]  build the collections in Typesense anew

  parley rules test --workspace W [--rule NAME] [--conversation C] [--limit n]
                                     which rules would have fired, and why; changes nothing

  parley ask --workspace W "question"

Every command takes --json. Exit status: 0 done, 1 failed, 2 called wrongly.
`;
