/** `state retention`: what is older, more or larger than is kept, and its fall. */
import path from 'node:path'
import { mayHaveThirdParty } from '../host/load/candidates.js'
import { defineCommand, type Command } from '../plugin/command.js'
import { array, object, optional, string, type Infer } from '../base/schema.js'
import { RetentionRun } from '../retention/retention-route.js'
import { createDisk } from '../state/disk/real-disk.js'
import { visibleLine } from '../base/text/visible.js'
import { progressFlags, telling } from './progress-line.js'
import type { ShippedView } from './shipped-view.js'
import { placeOf, rootFlag } from './root/place.js'

const archived = (archive: string | undefined): string =>
  archive === undefined ? '' : `\n  kept in ${visibleLine(archive)}`

/** Of a stopped root also which kinds were left when the command was interrupted. */
const RetentionAnswer = object({ ...RetentionRun.schema, left: optional(array(string())) })

const showRun = ({ dry_run, parts, failed, stays, warnings = [], left = [] }: Infer<typeof RetentionAnswer>): string =>
  [
    ...parts.map(
      ({ words, archive }) => `${dry_run ? 'would fall' : 'fell'}: ${visibleLine(words)}${archived(archive)}`,
    ),
    ...failed.map(({ kind, words, code }) => `did not fall: ${kind}: ${visibleLine(words)} (${code})`),
    ...stays.map((sentence) => `stays: ${visibleLine(sentence)}`),
    ...warnings.map((sentence) => `warning: ${visibleLine(sentence)}`),
    ...(parts.length === 0 ? [`Nothing ${dry_run ? 'would fall' : 'fell'}.`] : []),
    ...(left.length > 0
      ? [`Broken off, and nothing more falls: nothing fell of ${left.join(', ')}. Repeat it for these.`]
      : []),
    ...(dry_run && parts.length > 0 ? ['Nothing was changed: repeat without --dry-run.'] : []),
  ].join('\n')

const goesOn = (dry_run: boolean): string =>
  dry_run ? 'Nothing falls by this.' : 'The daemon goes on letting fall what is due: holdfast status names it.'

export const retentionCommand = (shipped: ShippedView): Command =>
  defineCommand({
    path: ['state', 'retention'],
    route: 'POST /v1/retention',
    summary:
      'Let fall what config/retention.toml, as it stands now, no longer keeps: through the daemon if one holds the ' +
      'root, directly if none does.',
    flags: {
      ...rootFlag,
      ...progressFlags,
      'dry-run': {
        kind: 'switch',
        summary: 'Only say what would fall. A stopped root is opened for it as a start does.',
      },
    },
    run: async (input) => {
      const dry_run = input.flags['dry-run'] === true
      const place = placeOf(input)
      if (place.held) return place.ask('/v1/retention', { dry_run }, goesOn(dry_run))
      const { root } = place
      const { readTomlFile } = await import('../host/load/toml.js')
      const { readConfig } = await import('../retention/policy.js')
      const { retainStopped } = await import('../retention/retain-stopped.js')
      const disk = createDisk()
      const options = {
        root,
        config: readConfig(readTomlFile(disk, path.join(root, 'config', 'retention.toml')) ?? { table: {} }, root),
        declared: await shipped.declarations(),
        complete: !mayHaveThirdParty(disk, root),
        dry_run,
      }
      return telling(input, 'Nothing fell.', (heeded) => retainStopped({ ...options, ...heeded }))
    },
    answer: RetentionAnswer,
    show: showRun,
    status: ({ failed, left = [] }) => (left.length > 0 ? 130 : failed.length > 0 ? 1 : 0),
  })
