/** Looking at what a flow made: a report in the workspace, and what its runs called (flows-14). */
import path from 'node:path'
import { createHash } from 'node:crypto'
import {
  array,
  boolean,
  defaulted,
  doc,
  inTurns,
  notBlank,
  object,
  optional,
  readOutside,
  innerFolder,
  realFolder,
  string,
  type Infer,
} from '../../../core/plugin.js'
import type { RunWorkspaces } from '../../execution/runs/contract.js'
import type { ToolRegistry } from '../../execution/tools/contract.js'
import { strays } from './calls.js'
import { flowErrors } from './errors.js'
import { addEvidence } from './evidence.js'
import { ContractCheck, FlowEvidence, productView, type FlowRecord } from './record.js'
import { headings } from './headings.js'
import { look } from './projection.js'
import type { Settling, SettleParts } from './settle.js'

/** What a report must be. */
export const ProductViewRequest = object({
  report_path: doc(string({ min: 1, max: 4096, pattern: notBlank }), 'Relative to where the root run works.'),
  required_sections: defaulted(
    doc(array(string({ min: 1, max: 400, pattern: notBlank }), { max: 100 }), 'Headings, in any case.'),
    [],
  ),
  forbidden_tools: defaulted(
    doc(array(string({ min: 1, max: 200 }), { max: 500 }), 'Names of tools, or their beginnings with a `*`.'),
    [],
  ),
})
/** The value form of `ProductViewRequest`. */
export type ProductViewRequest = Infer<typeof ProductViewRequest>

/** What was found. */
export const ProductViewVerdict = object({
  flow_id: string(),
  passed: boolean(),
  checks: array(ContractCheck),
  evidence: optional(doc(FlowEvidence, 'What was added to the evidence of the flow; only where all passed.')),
})
/** The value form of `ProductViewVerdict`. */
export type ProductViewVerdict = Infer<typeof ProductViewVerdict>

export interface ProductViewParts extends SettleParts, Pick<Settling, 'settle'> {
  readonly tools: Pick<ToolRegistry, 'workspace'>
  readonly workspaces: () => RunWorkspaces | undefined
}

/** Bytes of a report. */
const mostBytes = 1_048_576

/** Throws `flow_report_path_invalid`. */
const checkPath = (given: string): string => {
  const refuse = (reason: string): never => {
    throw flowErrors.flow_report_path_invalid({
      details: { reason },
      errors: [{ path: 'body.report_path', rule: reason }],
    })
  }
  if (/[\p{Cc}\\]/u.test(given)) return refuse('must have no control characters and no backslashes')
  if (path.isAbsolute(given) || /^[a-z]:/iu.test(given)) return refuse('must not be absolute')
  const at = path.posix.normalize(given)
  if (at === '..' || at.startsWith('../')) return refuse('must not lead out of the workspace')
  return at
}

const sectionChecks = (wanted: readonly string[], text: string): ContractCheck[] => {
  const there = headings(text)
  return wanted.map((section) => {
    const passed = there.has(section.trim().toLowerCase())
    return { name: `section:${section}`, passed, details: passed ? 'It is there.' : 'No heading is called so.' }
  })
}

/** Of a run that works in a worktree, nothing but this is looked at: what became of it may be gone. */
const folderOf = ({ runs, tools, workspaces, agents }: ProductViewParts, flow: FlowRecord): string | undefined => {
  const { run_id, session_id } = flow
  const isApart = runs.find(run_id)?.isolation === 'worktree'
  const whole = isApart ? workspaces()?.find(run_id)?.path : tools.workspace
  const cwd = agents()?.find(session_id)?.cwd
  if (whole === undefined) return undefined
  const home = cwd === undefined ? realFolder(whole) : innerFolder(whole, cwd)
  return home?.path
}

const reportOf = async (parts: ProductViewParts, flow: FlowRecord, at: string) => {
  const folder = folderOf(parts, flow)
  return folder === undefined ? undefined : readOutside(folder, at, mostBytes)
}

const toolCheck = async (
  parts: ProductViewParts,
  flow: FlowRecord,
  forbidden: readonly string[],
): Promise<ContractCheck[]> => {
  if (forbidden.length === 0) return []
  const { scope } = await inTurns(look(parts, flow, { needs_tools: true }))
  const names = scope.used.flatMap(({ called }) => strays(called.tools, { allow: [], deny: forbidden }))
  const isSeen = !scope.is_missing && !scope.used.some(({ called }) => called.tools_cut)
  const found = [...new Set(names)].slice(0, 20)
  const details = found.length > 0 ? `Called: ${found.join(', ')}.` : isSeen ? 'None was called.' : 'Not all is seen.'
  return [{ name: 'forbidden_tools', passed: isSeen && found.length === 0, details }]
}

/** Changes nothing but the evidence of the flow, and that only where all passed. */
export const verifyProductView = async (
  parts: ProductViewParts,
  flow_id: string,
  { report_path, required_sections, forbidden_tools }: ProductViewRequest,
): Promise<ProductViewVerdict> => {
  const at = checkPath(report_path)
  const flow = parts.store.get(flow_id)
  const report = await reportOf(parts, flow, at)
  const text = report?.ok === true ? report.text : undefined
  const details = report === undefined ? 'It is not there.' : report.ok ? 'It can be read.' : `It ${report.rule}.`
  const checks = [
    { name: 'report', passed: text !== undefined, details },
    ...sectionChecks(required_sections, text ?? ''),
    ...(await toolCheck(parts, flow, forbidden_tools)),
  ]
  if (text === undefined || !checks.every(({ passed }) => passed)) return { flow_id, passed: false, checks }
  const sha256 = createHash('sha256').update(text).digest('hex')
  const seen = { kind: productView, id: at, description: `SHA-256 ${sha256}` }
  const { evidence_refs } = await parts.store.state.commit((tx) => {
    const refs = [{ ...seen, verified_at_ms: tx.now }]
    return addEvidence(parts, tx, { flow: parts.store.get(flow_id), refs, renews: true })
  })
  await parts.settle(flow_id)
  const evidence = evidence_refs.find(({ kind, id }) => kind === seen.kind && id === seen.id)
  return { flow_id, passed: true, checks, ...(evidence !== undefined && { evidence }) }
}
