import {
  array,
  boolean,
  doc,
  integer,
  object,
  optional,
  string,
  timestamp,
  type HostView,
} from '../../../core/plugin.js'
import type { RuntimeSection, Settings } from './contract.js'
import { historyLimit, isOfFile, type Revisions } from './settings/revisions.js'

const ConfigView = object({
  revision: integer({ min: 0 }),
  updated_at_ms: optional(timestamp()),
  persisted: boolean(),
  history_len: integer({ min: 0 }),
  history_limit: integer({ min: 0 }),
  store_path: string(),
  files_kept: optional(
    doc(
      array(string()),
      'The current revision is a rollback, and these files changed since what it made hold: files are the ' +
        "operator's, and stay as they are.",
    ),
  ),
})

/** Where the daemon works, and the revision of its settings. */
export const ownSections = (
  host: HostView,
  revisions: Revisions,
  settings: Pick<Settings, 'revision'>,
): readonly RuntimeSection[] => [
  { name: 'state_root', schema: string(), collect: () => host.stateRoot },
  { name: 'workspace_root', schema: string(), collect: () => host.workspaceRoot },
  {
    name: 'config',
    schema: ConfigView,
    collect: () => {
      // A change that waits for the disk does not hold yet.
      const kept = revisions.list().filter(({ revision }) => revision <= settings.revision)
      const [newest] = kept
      return {
        revision: newest?.revision ?? 0,
        ...(newest !== undefined && { updated_at_ms: newest.updated_at_ms }),
        ...(newest?.files_kept !== undefined && { files_kept: newest.files_kept }),
        persisted: newest !== undefined,
        history_len: Math.max(0, kept.filter((one) => !isOfFile(one)).length - 1),
        history_limit: historyLimit,
        store_path: host.stateRoot,
      }
    },
  },
]
