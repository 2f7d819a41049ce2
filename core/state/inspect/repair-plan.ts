/** What a repair would do about each finding: told before it is done. */
import { Problem } from '../../base/errors.js'
import { count } from '../../base/text/command-text.js'
import { errors } from '../errors.js'
import { layout, numberOf } from '../format/layout.js'
import { norFile } from './verify-tree.js'
import type { Finding, VerifyReport } from './verify.js'

export type RepairKind = 'restrict' | 'set_aside' | 'cut' | 'root' | 'watermark' | 'index' | 'log' | 'salvage'

export interface RepairAction {
  readonly kind: RepairKind
  readonly file: string
  readonly offset: number
  readonly reason: string
  readonly consequence: string
  /** Something that was acknowledged is lost: only with the operator's word. */
  readonly loss: boolean
}

export interface RepairPlan {
  readonly actions: readonly RepairAction[]
  /** What no repair can decide. */
  readonly byHand: readonly (Finding & { readonly advice: string })[]
}

type Told = Pick<RepairAction, 'kind' | 'consequence' | 'loss'>

const aside: Told = {
  kind: 'set_aside',
  loss: false,
  consequence: 'it moves to quarantine/; nothing that counts is on it',
}
const lost = (what: string): Told => ({
  kind: 'set_aside',
  loss: true,
  consequence: `it moves to quarantine/; ${what}`,
})

const told = ({ kind, rule }: Finding): Told | string => {
  if (kind === 'mode')
    return rule.startsWith('it belongs')
      ? 'Change its owner.'
      : { kind: 'restrict', loss: false, consequence: 'only this user keeps rights to it' }
  if (kind === 'stranger') {
    if (rule.endsWith(norFile)) return 'Remove it, or move it out of the root: nothing counts on it.'
    return rule.startsWith('it should be') ? 'Put the folder or file itself in its place.' : aside
  }
  if (kind === 'leftover') return aside
  if (kind === 'torn' || kind === 'behind')
    return {
      kind: 'cut',
      loss: false,
      consequence: 'the bytes behind it move to quarantine/; none of them was acknowledged',
    }
  if (kind === 'root')
    return {
      kind: 'root',
      loss: false,
      consequence:
        'it is made again with the id that other files name; of what it says itself, the time of the creation of the ' +
        'root included, as much is kept as can be read and agrees with them',
    }
  if (kind === 'watermark') return { kind: 'watermark', loss: false, consequence: 'it is made again from the log' }
  if (kind === 'index')
    return { kind: 'index', loss: false, consequence: 'the next start makes it again from the pages' }
  if (kind === 'document') return lost('its settings are as if they had never been made')
  if (kind === 'spool')
    return {
      kind: 'set_aside',
      loss: false,
      consequence: 'it moves to quarantine/; the output in it is not shown any more',
    }
  if (kind === 'blob') return lost('records that name it find nothing')
  if (kind === 'log')
    return {
      kind: 'log',
      loss: true,
      consequence: 'this commit and all behind it move to quarantine/: the root goes back to the commit before',
    }
  if (kind === 'chain')
    return (
      'Compare with a backup: what stood there is not what was entered, and no repair can tell who is right. The ' +
      'daemon reads the entries as they are.'
    )
  if (kind === 'record' || kind === 'reference')
    return 'Restore a backup, or keep it: the daemon reads the record as it is.'
  return {
    kind: 'salvage',
    loss: true,
    consequence:
      'every line that can be read is written to a new log and the old files move to quarantine/; records on ' +
      'lines that cannot be read are lost or go back to an earlier version, lost tombstones no longer keep ids from ' +
      'use, and entries behind a lost one are numbered again',
  }
}

/** Kinds of which one action mends every finding. */
const single: ReadonlySet<RepairKind> = new Set(['salvage', 'log', 'root', 'watermark'])

/** In the log's order: segment, then byte. */
const earlier = (a: RepairAction, b: RepairAction): boolean => {
  const [first, second] = [
    numberOf(a.file.slice(a.file.lastIndexOf('/') + 1)) ?? Infinity,
    numberOf(b.file.slice(b.file.lastIndexOf('/') + 1)) ?? Infinity,
  ]
  return first < second || (first === second && a.offset < b.offset)
}

const order: readonly RepairKind[] = ['restrict', 'root', 'salvage', 'log', 'index', 'cut', 'watermark', 'set_aside']

const keyOf = ({ kind, file }: RepairAction): string => (single.has(kind) ? kind : `${kind} ${file}`)

/** A salvage writes everything again: what else is wrong with log and indexes goes with it. */
const settled = (actions: readonly RepairAction[]): RepairAction[] => {
  const salvage = actions.some(({ kind }) => kind === 'salvage')
  const gone: ReadonlySet<RepairKind> = new Set(salvage ? ['log', 'index', 'cut', 'watermark'] : [])
  return actions.filter(({ kind }) => !gone.has(kind)).toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))
}

export const planRepair = ({ findings, root }: VerifyReport): RepairPlan => {
  const actions = new Map<string, RepairAction>()
  const byHand: (Finding & { advice: string })[] = []
  for (const finding of findings) {
    const found = told(finding)
    if (typeof found === 'string') {
      byHand.push({ ...finding, advice: found })
      continue
    }
    const { file, offset, rule: reason } = finding
    const action: RepairAction = { ...found, file, offset, reason }
    const before = actions.get(keyOf(action))
    if (before === undefined || earlier(action, before)) actions.set(keyOf(action), action)
  }
  const log = layout(root).log
  return {
    actions: settled(
      [...actions.values()].filter(({ kind, file }) => kind !== 'cut' || !actions.has('log') || !file.startsWith(log)),
    ),
    byHand,
  }
}

/** Actions that were done, and those that are known to be left. */
export interface Done {
  actions: number
  left: number
}

export const countDone = (done: Done): void => {
  done.actions += 1
  done.left -= 1
}

/** A repair that goes on finds done what was done. */
export const brokenOff = (error: unknown, { actions, left }: Done): unknown => {
  if (!(error instanceof Problem) || error.code !== errors.interrupted.code || actions === 0) return error
  const next = left > 0 ? 'repeat the command for what is left' : 'holdfast state verify tells whether all is clean'
  const stands = `${count(actions, 'repair')} done, and what was done stays: ${next}.`
  return errors.interrupted({ details: { stands } })
}
