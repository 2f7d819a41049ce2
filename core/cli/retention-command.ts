/** `state retention`: what is older, more or larger than is kept, and its fall. */
import path from 'node:path'
import { readToml } from '../host/load/toml.js'
import { defineCommand, type Command } from '../plugin/command.js'
import { readConfig } from '../retention/policy.js'
import { retainStopped } from '../retention/retain-stopped.js'
import { RetentionRun } from '../retention/retention-route.js'
import { createDisk } from '../state/disk/real-disk.js'
import { errors } from '../state/errors.js'
import { mayLive } from '../state/root/owner.js'
import { readRoot } from '../state/root/root-document.js'
import { visibleLine } from '../base/text/visible.js'
import type { ShippedView } from './shipped-view.js'
import { rootFlag, rootOf } from './state-commands.js'

const archived = (archive: string | undefined): string =>
  archive === undefined ? '' : `\n  kept in ${visibleLine(archive)}`

const showRun = ({ dry_run, parts, failed, stays }: RetentionRun): string =>
  [
    ...parts.map(
      ({ words, archive }) => `${dry_run ? 'would fall' : 'fell'}: ${visibleLine(words)}${archived(archive)}`,
    ),
    ...failed.map(({ kind, words, code }) => `did not fall: ${kind}: ${visibleLine(words)} (${code})`),
    ...stays.map((sentence) => `stays: ${visibleLine(sentence)}`),
    ...(parts.length === 0 ? [`Nothing ${dry_run ? 'would fall' : 'fell'}.`] : []),
    ...(dry_run && parts.length > 0 ? ['Nothing was changed: repeat without --dry-run.'] : []),
  ].join('\n')

export const retentionCommand = (shipped: ShippedView): Command =>
  defineCommand({
    path: ['state', 'retention'],
    route: 'POST /v1/retention',
    summary:
      'Let fall what config/retention.toml no longer keeps: through the daemon if one holds the root, directly if ' +
      'none does.',
    flags: { ...rootFlag, 'dry-run': { kind: 'switch', summary: 'Only say what would fall.' } },
    run: async ({ client, flags }) => {
      const root = rootOf(flags)
      const dry_run = flags['dry-run'] === true
      const facts = readRoot({ root, disk: createDisk() })
      if (facts === undefined) throw errors.state_root_absent({ details: { path: root } })
      if (mayLive(root)) return client.send('POST', '/v1/retention', { dry_run, root_id: facts.root_id })
      const config = readConfig(readToml(createDisk(), path.join(root, 'config', 'retention.toml')) ?? {}, root)
      return retainStopped({ root, config, declared: await shipped.declarations(), dry_run })
    },
    answer: RetentionRun,
    show: showRun,
    status: ({ failed }) => (failed.length > 0 ? 1 : 0),
  })
