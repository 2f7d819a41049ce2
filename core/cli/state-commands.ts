/** `state verify`, `state repair`, `state show`: an operator's look at a state root, from outside any daemon. */
import path from 'node:path'
import { createClock } from '../base/clock.js'
import type { Interrupts } from '../base/interrupts.js'
import { count } from '../base/text/command-text.js'
import { defineCommand, type Command, type CommandInput } from '../plugin/command.js'
import { Problem } from '../base/errors.js'
import { createIds } from '../base/ids.js'
import type { Log } from '../base/text/log.js'
import { isJsonObject, unsafeCast, type Json } from '../base/schema.js'
import { accessProblem, codeOf, errors, programProblem } from '../state/errors.js'
import type { Fault } from '../state/format/line.js'
import { createDisk } from '../state/disk/real-disk.js'
import type { RepairAction, RepairReport } from '../state/inspect/repair.js'
import type { Inventory, RootPlace, Shown } from '../state/inspect/show.js'
import type { VerifyReport } from '../state/inspect/verify.js'
import { errors as cliErrors } from './told/errors.js'
import { explain } from './told/explain.js'
import { firstFindings } from './told/first-findings.js'
import { interruptible } from './interrupts.js'
import { progressFlags, telling, type Heeded } from './progress-line.js'
import { rootFlag, rootOf } from './root/place.js'
import type { ShippedView } from './shipped-view.js'
import { printError } from './terminal.js'

type Unreadable = { readonly unreadable: { readonly code: string; readonly sentence: string } }
type VerifyAnswer = VerifyReport | Unreadable

const verify = async (shipped: ShippedView, root: string, heeded: Heeded): Promise<VerifyAnswer> => {
  const { verifyRoot } = await import('../state/inspect/verify.js')
  try {
    return await verifyRoot({
      root,
      ...heeded,
      disk: createDisk(),
      clock: createClock(),
      declared: await shipped.declarations(),
    })
  } catch (error) {
    const problem = error instanceof Problem ? error : (programProblem(error) ?? accessProblem(error))
    if (problem !== undefined && saysNothing.has(problem.code)) throw problem
    const code = problem?.code ?? codeOf(error) ?? 'unreadable'
    return { unreadable: { code, sentence: (problem ?? (error instanceof Error ? error : undefined))?.message ?? '' } }
  }
}

/** Problems that are none of the root. */
const saysNothing: ReadonlySet<string> = new Set([errors.program_damaged.code, errors.interrupted.code])

const unknown = 'Nothing was changed, and nobody knows yet whether the root is clean.'

const columns = (rows: readonly (readonly string[])[]): string => {
  const widths = rows.reduce<number[]>((found, row) => row.map((cell, at) => Math.max(found[at] ?? 0, cell.length)), [])
  return rows
    .map((row) =>
      row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  '),
    )
    .join('\n')
}

const listed = ({ findings, root }: VerifyReport): string[] =>
  firstFindings(
    findings.map(
      ({ severity, file, offset, rule }) =>
        `${severity}: ${path.relative(root, file) || '.'} at byte ${offset}: ${rule}`,
    ),
  )

const verdict = ({ findings, clean, live, sequence }: VerifyReport): string => {
  const [first] = findings.filter(({ severity }) => severity !== 'leftover')
  const prefix = live ? `A daemon is at work on this root: checked as of commit ${sequence}.\n` : ''
  if (first !== undefined) return `${prefix}NOT CLEAN: first at ${first.file} byte ${first.offset}: ${first.rule}`
  const leftovers =
    clean && findings.length > 0 ? `; the next start clears ${count(findings.length, 'leftover')} of a kill` : ''
  return `${prefix}clean up to commit ${sequence}${leftovers}`
}

const showReport = (report: VerifyAnswer): string => {
  if ('unreadable' in report) return `cannot read: ${report.unreadable.sentence} (${report.unreadable.code})`
  const rows = report.checked.map(({ area, files, items, bytes, ms, findings }) => [
    area,
    String(files),
    String(items),
    String(bytes),
    ms.toFixed(1),
    String(findings),
  ])
  return [
    columns([['part', 'files', 'items', 'bytes', 'ms', 'findings'], ...rows]),
    ...listed(report),
    verdict(report),
  ].join('\n')
}

const verifyCommand = (shipped: ShippedView): Command =>
  defineCommand({
    path: ['state', 'verify'],
    summary: 'Check every checksum, number, name, record and reference of a state root; changes nothing.',
    flags: { ...rootFlag, ...progressFlags },
    run: (input) => telling(input, unknown, (heeded) => verify(shipped, rootOf(input.flags), heeded)),
    show: showReport,
    status: (report) => {
      if ('unreadable' in report) return 2
      return report.clean ? 0 : 1
    },
  })

type Output = CommandInput['output']
/** A place that is read, and the form in which faults on the way are told. */
interface ShowPlace extends RootPlace {
  readonly output: Output
  readonly interrupts: Interrupts
}

const warn = (faults: readonly Fault[], output: Output): void => {
  const [first] = faults
  if (first === undefined) return
  const { file, offset, rule } = first
  const met = cliErrors.state_faults_met({ details: { faults: count(faults.length, 'fault'), file, offset, rule } })
  printError(explain(met, output).text)
}

const shown = async <T>(read: () => Shown<T>, { output, interrupts }: ShowPlace): Promise<T> => {
  const { value, faults } = await interrupts.inOneGo(read)
  warn(faults, output)
  return value
}

const listInventory = ({ collections, streams }: Inventory): string =>
  columns([
    ['collection', 'records', 'buried'],
    ...Object.entries(collections).map(([name, { records, buried }]) => [name, String(records), String(buried)]),
    ['', '', ''],
    ['stream', 'owners', 'entries'],
    ...Object.entries(streams).map(([name, { owners, entries }]) => [name, String(owners), String(entries)]),
  ])

/** What reads a root is loaded when one is read: every command line loads this file. */
const reading = () => import('../state/inspect/show.js')

const showOne = async (place: ShowPlace, name: string, id: string): Promise<Json> => {
  const { showEntries, showRecords } = await reading()
  const records = await shown(() => showRecords(place, name, id), place)
  const record = records?.get(id)
  if (record !== undefined) return record
  const entries = records === undefined ? await shown(() => showEntries(place, name, id), place) : undefined
  if (entries === undefined && records === undefined) throw errors.shape_absent({ details: { name } })
  if (entries === undefined || entries.length === 0) throw errors.record_absent({ details: { name, id } })
  return [...entries]
}

const showAll = async (place: ShowPlace, name: string): Promise<Json> => {
  const { showOwners, showRecords } = await reading()
  const records = await shown(() => showRecords(place, name), place)
  if (records !== undefined) return [...records.values()]
  const owners = await shown(() => showOwners(place, name), place)
  if (owners === undefined) throw errors.shape_absent({ details: { name } })
  return { ...owners }
}

const inventory = 'inventory'

const showArchive = async (file: string, name: string | undefined, id: string | undefined): Promise<Json> => {
  const { listArchive, showArchived, showArchivedOne } = await import('../retention/archive/show.js')
  const place = { disk: createDisk(), path: path.resolve(file) }
  if (name === undefined) return { [inventory]: unsafeCast<Json>(await listArchive(place)) }
  return id === undefined ? showArchived(place, name) : showArchivedOne(place, name, id)
}

const show: Command = defineCommand({
  path: ['state', 'show'],
  summary:
    'Print records of a collection, entries of a stream, or what there is, as they stand on disk; changes nothing.',
  args: ['name?', 'id?'],
  flags: {
    ...rootFlag,
    archive: { kind: 'text', value: 'file', summary: 'Read this archive of retention instead of a state root.' },
  },
  run: ({ flags, args: { name, id }, output, signal }) =>
    interruptible(signal, 'Nothing was changed.', async (interrupts) => {
      if (typeof flags['archive'] === 'string') return showArchive(flags['archive'], name, id)
      const place = { root: rootOf(flags), disk: createDisk(), output, interrupts }
      if (name !== undefined) return id === undefined ? showAll(place, name) : showOne(place, name, id)
      const { listState } = await reading()
      return { [inventory]: await shown(() => listState(place), place) }
    }),
  show: (answer: Json) => {
    const listed = isJsonObject(answer) ? answer[inventory] : undefined
    return listed === undefined ? JSON.stringify(answer, null, 2) : listInventory(unsafeCast<Inventory>(listed))
  },
})

const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

const repairPlace = async (shipped: ShippedView, root: string) => {
  const clock = createClock()
  return {
    root,
    disk: createDisk(),
    clock,
    ids: createIds(clock),
    log: silent,
    declared: await shipped.declarations(),
  }
}

/** Of what is done nobody needs to be told again how to do it. */
const lossText = (applied: boolean): string =>
  applied
    ? '\n  LOST acknowledged data: see holdfast state findings'
    : '\n  LOSES acknowledged data: needs --accept-loss'

const applyFlags = (actions: RepairReport['actions']): string =>
  actions.some(({ loss }) => loss) ? '--apply --accept-loss' : '--apply'

const showPlan = ({ root, actions, byHand, applied, after }: RepairReport): string => {
  const at = (file: string, offset: number): string => `${path.relative(root, file) || '.'} at byte ${offset}`
  const did = actions.map(
    ({ kind, file, offset, reason, consequence, loss }) =>
      `${applied ? 'done' : 'would'}: ${kind} ${at(file, offset)}\n  because: ${reason}\n  then: ` +
      `${consequence}${loss ? lossText(applied) : ''}`,
  )
  const left = byHand.map(({ file, offset, rule, advice }) => `by hand: ${at(file, offset)}: ${rule}\n  ${advice}`)
  const end = applied
    ? after.clean
      ? 'The root is clean.'
      : 'The root is NOT clean.'
    : actions.length === 0
      ? 'Nothing to repair.'
      : `Nothing was changed: repeat with ${applyFlags(actions)}.`
  return [...did, ...left, end].join('\n')
}

const repair = (shipped: ShippedView): Command =>
  defineCommand({
    path: ['state', 'repair'],
    summary:
      'Say what a repair of a stopped root would do; do it with --apply. What is taken away goes to quarantine/.',
    flags: {
      ...rootFlag,
      ...progressFlags,
      apply: { kind: 'switch', summary: 'Do it.' },
      'accept-loss': { kind: 'switch', summary: 'Acknowledged data may be taken away.' },
    },
    run: async (input) => {
      const { flags } = input
      const { repairRoot } = await import('../state/inspect/repair.js')
      const { noteTaken } = await import('../records/repair-notes.js')
      const place = await repairPlace(shipped, rootOf(flags))
      const options = {
        ...place,
        apply: flags['apply'] === true,
        acceptLoss: flags['accept-loss'] === true,
        onTaken: (root: string, taken: readonly RepairAction[]) => noteTaken(place, root, taken),
      }
      return telling(input, 'Nothing was changed.', (heeded) => repairRoot({ ...options, ...heeded }))
    },
    show: showPlan,
    status: ({ actions, applied, byHand, after }) =>
      (applied ? after.clean : actions.length + byHand.length === 0) ? 0 : 1,
  })

export const stateCommands = (shipped: ShippedView): readonly Command[] => [
  verifyCommand(shipped),
  repair(shipped),
  show,
]
