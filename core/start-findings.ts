/** What a start found, in the words of findings. */
import { relative } from 'node:path'
import { declarationChanged, noTables } from './state/pages/table-set.js'
import type { Found } from './records/findings.js'
import type { RepairOutcome } from './host/lifecycle/repair.js'
import type { RecoveryReport } from './state/store/root.js'

type Place = { readonly file: string; readonly offset: number; readonly rule: string }

const at = (root: string, { file, offset }: Place) => ({ file: relative(root, file), byte: offset })

/** Damage that is met when something is read, at a start or later. */
export const damageFound = (root: string, fault: Place): Found => ({
  code: 'storage_damaged',
  severity: 'error',
  about: `${relative(root, fault.file)} ${fault.offset}`,
  ...at(root, fault),
  message: `Stored data is damaged: ${fault.rule}.`,
  action: 'Restore a backup elsewhere and compare, or stop the daemon and see the plan of holdfast state repair.',
})

const tornFound = (root: string, torn: NonNullable<RecoveryReport['torn']>): Found => ({
  code: 'log_tail_cut',
  severity: 'info',
  ...at(root, torn),
  message: `The end of the log was cut off: ${torn.rule}.`,
  action: `Its ${torn.bytes} bytes, which were never acknowledged, are in ${relative(root, torn.quarantine)}.`,
})

const documentFound = (root: string, file: string): Found => ({
  code: 'document_quarantined',
  severity: 'warning',
  about: relative(root, file),
  file: relative(root, file),
  byte: 0,
  message: `The settings in ${relative(root, file)} were damaged and count as never made.`,
  action: 'Make them again, or stop the daemon and restore the file; what was there is in quarantine/.',
})

const spoolFound = (root: string, spools: readonly Place[]): Found[] =>
  spools.slice(0, 1).map((spool) => ({
    code: 'spool_cut',
    severity: 'info',
    ...at(root, spool),
    message:
      `The output of ${spools.length === 1 ? 'a command' : `${spools.length} commands`} in the background ` +
      'was cut off.',
    action: 'What was in it is in quarantine/; the task that ran the command has failed.',
  }))

const sweptFound = (root: string, [first, ...others]: readonly string[]): Found[] =>
  first === undefined
    ? []
    : [
        {
          code: 'leftovers_cleared',
          severity: 'info',
          file: relative(root, first),
          message:
            `A start cleared ${others.length === 0 ? 'a file' : `${others.length + 1} files`} ` +
            'that a stop had left.',
          action: 'Nothing that counted was on them.',
        },
      ]

const rebuiltFound = (root: string, what: string): Found => ({
  code: 'rebuilt',
  severity: 'info',
  about: what.replace(`${root}/`, ''),
  message: `A file was made again from others: ${what.replace(`${root}/`, '')}.`,
  action: 'Nothing is lost.',
})

/** An index that a new version declares or writes in another way is made again: nothing was wrong. */
export const isDeclared = (what: string): boolean =>
  [declarationChanged, noTables].some((why) => what.endsWith(`: ${why}`))

const uncleanFound: Found = {
  code: 'unclean_stop',
  severity: 'info',
  message: 'The log was not closed in order: the daemon was killed, the machine stopped, or a repair cut it.',
  action: 'What was acknowledged is there; see holdfast runs actions for effects whose outcome is unknown.',
}

export const recoveryFound = (root: string, report: RecoveryReport): Found[] => [
  ...(report.unclean ? [uncleanFound] : []),
  ...(report.damage === undefined ? [] : [damageFound(root, report.damage)]),
  ...(report.torn === undefined ? [] : [tornFound(root, report.torn)]),
  ...report.quarantined.map((file) => documentFound(root, file)),
  ...spoolFound(root, report.spools),
  ...sweptFound(root, report.swept),
  ...report.rebuilt.filter((what) => !isDeclared(what)).map((what) => rebuiltFound(root, what)),
]

export const repairFound = (outcomes: readonly RepairOutcome[]): Found[] =>
  outcomes
    .map(({ found, expected, ...outcome }) => ({ ...outcome, found: outcome.fixed ? found - expected : found }))
    .filter(({ found }) => found > 0)
    .map(({ step, plugin, found, fixed }) => ({
      code: 'repair_step',
      severity: fixed ? 'info' : 'warning',
      about: step,
      message:
        `The repair step ${step} of ${plugin} found ${found}` +
        `${fixed ? ` and mended ${found === 1 ? 'it' : 'them'}` : ''}.`,
      action: fixed ? 'Nothing more is needed.' : 'It mends them at the next start with storage that takes changes.',
    }))
