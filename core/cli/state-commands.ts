/** `state verify`, `state repair`, `state show`: an operator's look at a state root, from outside any daemon. */
import path from 'node:path'
import { createClock } from '../clock.js'
import { defineCommand } from '../command.js'
import type { Command, CommandInput } from '../command.js'
import { environment } from '../config.js'
import { Problem } from '../errors.js'
import { declarationsOf } from '../host/declarations.js'
import { shippedPlugins } from '../host/candidates.js'
import { trusted } from '../schema.js'
import type { Json } from '../schema.js'
import { createDisk } from '../state/real-disk.js'
import { verifyRoot } from '../state/verify.js'
import type { VerifyReport } from '../state/verify.js'

export const rootFlag = { 'state-root': { kind: 'text', summary: 'The state root; SERVICE_STATE_ROOT, else ./state.' } } as const

export const rootOf = (flags: CommandInput['flags']): string => {
  const flag = flags['state-root']
  return path.resolve(typeof flag === 'string' ? flag : (environment()['SERVICE_STATE_ROOT'] ?? './state'))
}

type Unreadable = { readonly unreadable: { readonly code: string; readonly sentence: string } }
type VerifyAnswer = VerifyReport | Unreadable

const verify = async (root: string): Promise<VerifyAnswer> => {
  try {
    return await verifyRoot({ root, disk: createDisk(), clock: createClock(), declared: await declarationsOf(await shippedPlugins()) })
  } catch (error) {
    const code = error instanceof Problem ? error.code : error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    return { unreadable: { code, sentence: error instanceof Error ? error.message : String(error) } }
  }
}

const columns = (rows: readonly (readonly string[])[]): string => {
  const widths = rows.reduce<number[]>((found, row) => row.map((cell, at) => Math.max(found[at] ?? 0, cell.length)), [])
  return rows.map((row) => row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  ')).join('\n')
}

const most = 20

const listed = ({ findings, root }: VerifyReport): string[] => [
  ...findings.slice(0, most).map(({ severity, file, offset, rule }) => `${severity}: ${path.relative(root, file) || '.'} at byte ${offset}: ${rule}`),
  ...(findings.length > most ? [`… and ${findings.length - most} more; --output json names them all`] : []),
]

const verdict = ({ findings, clean, live, sequence }: VerifyReport): string => {
  const [first] = findings.filter(({ severity }) => severity !== 'leftover')
  const prefix = live ? `A daemon is at work on this root: checked as of commit ${sequence}.\n` : ''
  if (first !== undefined) return `${prefix}NOT CLEAN: first at ${first.file} byte ${first.offset}: ${first.rule}`
  return `${prefix}clean up to commit ${sequence}${clean && findings.length > 0 ? `; the next start clears ${findings.length} leftovers of a kill` : ''}`
}

const showReport = (answer: Json): string => {
  const report = trusted<VerifyAnswer>(answer)
  if ('unreadable' in report) return `cannot read: ${report.unreadable.sentence} (${report.unreadable.code})`
  const rows = report.checked.map(({ area, files, items, bytes, ms, findings }) => [area, String(files), String(items), String(bytes), ms.toFixed(1), String(findings)])
  return [columns([['part', 'files', 'items', 'bytes', 'ms', 'findings'], ...rows]), ...listed(report), verdict(report)].join('\n')
}

export const verifyCommand: Command = defineCommand({
  path: ['state', 'verify'],
  summary: 'Check every checksum, number, name, record and reference of a state root; changes nothing.',
  flags: rootFlag,
  run: async ({ flags }) => trusted<Json>(await verify(rootOf(flags))),
  show: showReport,
  status: (answer) => {
    const report = trusted<VerifyAnswer>(answer)
    if ('unreadable' in report) return 2
    return report.clean ? 0 : 1
  },
})

export const stateCommands: readonly Command[] = [verifyCommand]
