/** The status of a flow against the table of the contract, and scopes against each other, in all combinations. */
import test from 'ava'
import fc from 'fast-check'
import { unsafeCast } from '../../../../core/plugin.js'
import { strays } from '../../../../plugins/agents/flows/calls.js'
import { widerCapability } from '../../../../plugins/agents/flows/scopes.js'
import {
  boundaryOf,
  flowStatus,
  isTerminal,
  type FlowStatus,
  type ScopeFacts,
} from '../../../../plugins/agents/flows/status.js'
import { runStatuses, type RunStatus } from '../../../../plugins/execution/runs/contract.js'
import { permitsCapability, type CapabilityScope } from '../../../../plugins/execution/sessions/contract.js'
import { taskStatuses, type TaskStatus } from '../../../../plugins/execution/tasks/contract.js'

const subsets = <T>(all: readonly T[]): Set<T>[] =>
  Array.from({ length: 2 ** all.length }, (_, bits) => new Set(all.filter((_one, at) => (bits >> at) % 2 === 1)))

/** The rows of the contract as they stand there, and where they meet the one that is worse. */
const rowsThatHold = (facts: ScopeFacts): FlowStatus[] => {
  const run = (...statuses: RunStatus[]) => statuses.some((status) => facts.runs.has(status))
  const task = (...statuses: TaskStatus[]) => statuses.some((status) => facts.tasks.has(status))
  const rows: [boolean, FlowStatus][] = [
    [!facts.has_run, facts.is_cancelled ? 'cancelled' : 'pending'],
    [run('failed') || task('failed') || facts.is_violated, 'failed'],
    [run('cancelled') || task('cancelled'), 'cancelled'],
    [run('waiting_for_approval', 'waiting_for_user_question') || task('blocked'), 'waiting'],
    [run('queued', 'running') || task('pending', 'in_progress'), 'running'],
    [run('interrupted'), 'interrupted'],
    [facts.is_missing, 'unknown'],
  ]
  return rows.flatMap(([holds, status]) => (holds ? [status] : []))
}
const order: FlowStatus[] = ['unknown', 'failed', 'cancelled', 'waiting', 'running', 'interrupted']

const expected = (facts: ScopeFacts): FlowStatus => {
  const rows = rowsThatHold(facts)
  if (!facts.has_run) return rows[0] ?? 'unknown'
  return order.find((status) => rows.includes(status)) ?? (facts.lacks_evidence ? 'waiting' : 'succeeded')
}

test('flows-8: the status is what the table says, in every combination of runs, tasks and evidence', (t) => {
  const seen = new Map<FlowStatus, number>()
  const wrong: unknown[] = []
  const flags = subsets(['has_run', 'is_cancelled', 'is_missing', 'is_violated', 'lacks_evidence'])
  for (const runs of subsets(runStatuses))
    for (const tasks of subsets(taskStatuses))
      for (const set of flags) {
        const facts: ScopeFacts = {
          runs,
          tasks,
          has_run: set.has('has_run'),
          is_cancelled: set.has('is_cancelled'),
          is_missing: set.has('is_missing'),
          is_violated: set.has('is_violated'),
          lacks_evidence: set.has('lacks_evidence'),
        }
        const status = flowStatus(facts)
        seen.set(status, (seen.get(status) ?? 0) + 1)
        if (status !== expected(facts)) wrong.push({ set: [...set], runs: [...runs], tasks: [...tasks], status })
      }
  t.deepEqual(wrong.slice(0, 3), [])
  t.is(
    [...seen.values()].reduce((sum, one) => sum + one, 0),
    2 ** (8 + 6 + 5),
  )
  t.is(seen.size, 8)
})

test('flows-8: nothing that is wrong, missing or under way is ever a success', (t) => {
  const good: ScopeFacts = {
    has_run: true,
    is_cancelled: false,
    is_missing: false,
    runs: new Set(['completed']),
    tasks: new Set(['completed']),
    is_violated: false,
    lacks_evidence: false,
  }
  t.is(flowStatus(good), 'succeeded')
  for (const news of [{ is_missing: true }, { is_violated: true }, { lacks_evidence: true }, { has_run: false }])
    t.not(flowStatus({ ...good, ...news }), 'succeeded')
  for (const status of runStatuses.filter((one) => one !== 'completed'))
    t.not(flowStatus({ ...good, runs: new Set(['completed', status]) }), 'succeeded')
  for (const status of taskStatuses.filter((one) => one !== 'completed'))
    t.not(flowStatus({ ...good, tasks: new Set([status]) }), 'succeeded')
  t.deepEqual(
    (['pending', 'running', 'waiting', 'unknown'] as const).map((status) => isTerminal(status)),
    [false, false, false, false],
  )
})

test('flows-9: a flow has ended when the first of it failed or was cancelled, or all of it was over', (t) => {
  const times = { failed: 3, violated: 2, cancelled: 4, last: 7, told: 9 }
  t.is(boundaryOf('failed', times), 2)
  t.is(boundaryOf('failed', { ...times, violated: Infinity }), 3)
  t.is(boundaryOf('cancelled', times), 4)
  t.is(boundaryOf('interrupted', times), 7)
  t.is(boundaryOf('succeeded', times), 9)
  t.is(boundaryOf('succeeded', { ...times, told: 0 }), 7)
  for (const status of ['pending', 'running', 'waiting', 'unknown'] as const) t.is(boundaryOf(status, times), undefined)
})

test('flows-4: a session is wider exactly where it may use a name that the playbook does not let it', (t) => {
  const names = ['a', 'b', 'c', '*']
  const list = fc.subarray(names)
  const scope = fc.record({ skill_allow: list, skill_deny: list }).map((lists) =>
    unsafeCast<CapabilityScope>({
      mcp_server_allow: [],
      mcp_server_deny: [],
      mcp_tool_allow: [],
      mcp_tool_deny: [],
      ...lists,
    }),
  )
  // A name that no list has stands for all others.
  const probes = ['a', 'b', 'c', 'others']
  fc.assert(
    fc.property(fc.option(scope, { nil: undefined }), scope, (own, bound) => {
      const beyond = probes.some(
        (name) => permitsCapability(own, 'skill', name) && !permitsCapability(bound, 'skill', name),
      )
      return (widerCapability(own, bound) !== undefined) === beyond
    }),
    { numRuns: 5_000, seed: 3 },
  )
  t.is(widerCapability(undefined, undefined), undefined)
})

test('flows-11: names and beginnings of tools, and denial before allowance', (t) => {
  const tools = ['bash', 'read_file', 'mcp__a__b']
  t.deepEqual(strays(tools, { allow: [], deny: [] }), [])
  t.deepEqual(strays(tools, { allow: ['read_file'], deny: [] }), ['bash', 'mcp__a__b'])
  t.deepEqual(strays(tools, { allow: [], deny: ['mcp__*'] }), ['mcp__a__b'])
  t.deepEqual(strays(tools, { allow: ['bash', 'read*', 'mcp__*'], deny: ['bash'] }), ['bash'])
  t.deepEqual(strays(['bash2'], { allow: ['bash'], deny: [] }), ['bash2'])
})
