import {
  array,
  boolean,
  committed,
  doc,
  enums,
  jsonReply,
  object,
  optional,
  string,
  defineRoute,
  pageFields,
  pageOf,
  pageProblems,
  type Route,
  type Skip,
  digest,
  idempotencyKey,
  IdempotencyKey,
} from '../../../core/plugin.js'
import { noRun, RunEventEntry, runErrors, runStatuses, RunView, type Runs } from './contract.js'
import type { ControlContext } from './lifecycle/executor.js'
import { runEvents, runSteps } from './views/run-events.js'
import { listRuns } from './views/run-list.js'
import { retryOf } from './submission/retry-run.js'
import { submitProblems } from './submission/problems.js'
import { submitRun } from './submission/submit.js'
import { stopOne } from './lifecycle/stop.js'
import { ExternalActionView } from '../external-actions/contract.js'

export interface RouteContext {
  readonly context: ControlContext
  readonly runs: Runs
  readonly skip: Skip
}

const params = object({ run_id: string({ min: 1, max: 200 }) })

export const runRoutes = (all: RouteContext): readonly Route[] => [
  list(all),
  read(all),
  events(all),
  cancel(all),
  retry(all),
  actions(all),
  acknowledge(all),
]

const list = ({ context, runs, skip }: RouteContext): Route =>
  defineRoute({
    id: 'runs.list',
    method: 'GET',
    path: '/v1/runs',
    summary: 'Lists runs in order of submission. The plain array holds the newest.',
    access: 'read',
    query: object({
      session_id: optional(doc(string({ min: 1, max: 200 }), 'Id of the session.')),
      status: optional(enums(runStatuses)),
      unknown: optional(
        doc(
          boolean(),
          'Only runs with an effect of which nobody can tell whether it happened, and that nobody has acknowledged. ' +
            'In order of submission, also with priority_active.',
        ),
      ),
      priority_active: optional(
        doc(
          boolean(),
          'Open runs first, then those that changed last. In pages the open ones are in order of submission, newest ' +
            'first, as they were open when the first page was made: one that ends meanwhile keeps its place.',
        ),
      ),
      ...pageFields,
    }),
    reply: jsonReply(pageOf(RunView)),
    problems: [...pageProblems],
    handler: ({ query: { unknown, ...query }, caller }) =>
      listRuns(
        context.store,
        { ...query, ...(unknown === true && { only: context.ledger()?.unknown() ?? [] }) },
        { view: (run) => runs.view(run, caller), skip, now: context.clock.now },
      ),
  })

const read = ({ runs }: RouteContext): Route =>
  defineRoute({
    id: 'runs.get',
    method: 'GET',
    path: '/v1/runs/:run_id',
    summary: 'Reads a run.',
    access: 'read',
    params,
    reply: jsonReply(RunView),
    problems: noRun,
    handler: ({ params: { run_id }, caller }) => runs.view(runs.get(run_id), caller),
  })

const events = ({ context, runs }: RouteContext): Route =>
  defineRoute({
    id: 'runs.events',
    method: 'GET',
    path: '/v1/runs/:run_id/events',
    summary: 'Reads everything that happened to a run, oldest first.',
    access: 'read',
    params,
    query: object({
      steps: optional(
        doc(boolean(), 'With model answers, failed attempts, tool calls and what hooks did between the events.'),
      ),
    }),
    reply: jsonReply(array(RunEventEntry)),
    problems: noRun,
    handler: ({ params: { run_id }, query: { steps }, caller }) =>
      (steps === true ? runSteps : runEvents)(context.store, runs.get(run_id), caller),
  })

const cancel = ({ context, runs }: RouteContext): Route =>
  defineRoute({
    id: 'runs.cancel',
    method: 'POST',
    path: '/v1/runs/:run_id/cancel',
    summary: 'Cancels a run and waits until what it started has ended. A cancelled run stays as it is.',
    access: 'admin',
    params,
    body: object({}),
    bodyOptional: true,
    reply: jsonReply(RunView),
    problems: [...noRun, runErrors.run_state_conflict],
    durability: 'A',
    handler: async ({ params: { run_id }, caller }) =>
      runs.view(await stopOne(context, run_id, { kind: 'cancel' }), caller),
  })

const retry = ({ context, runs }: RouteContext): Route =>
  defineRoute({
    id: 'runs.retry',
    method: 'POST',
    path: '/v1/runs/:run_id/retry',
    summary: 'Makes a new run of one that failed, was interrupted or was cancelled, with the same input and settings.',
    access: 'admin',
    params,
    body: object({
      idempotency_key: IdempotencyKey,
      provider: optional(
        doc(string({ min: 1, max: 200 }), 'Another route than that of the run; needed if the daemon has it no longer.'),
      ),
    }),
    bodyOptional: true,
    idempotent: true,
    example: { body: { idempotency_key: 'again-1' } },
    reply: jsonReply(RunView, 202),
    problems: [runErrors.run_not_found, runErrors.run_not_retryable, ...submitProblems],
    durability: 'A',
    handler: async ({ params: { run_id }, body: { idempotency_key, provider }, idempotencyKey: header, caller }) => {
      const submission = retryOf(context, runs.get(run_id), provider)
      const key = idempotencyKey(header, idempotency_key)
      const receipt = { scope: `runs.retry:${run_id}`, key: key ?? '', digest: digest({ provider: provider ?? null }) }
      const { run, seen } = await submitRun(context, { ...submission, ...(key !== undefined && { receipt }) })
      return seen === undefined ? runs.view(run, caller) : committed(seen)
    },
  })

const actionsOf = ({ ledger }: RouteContext['context'], run_id: string): ExternalActionView[] =>
  ledger()?.of(run_id) ?? []

const actions = ({ context, runs }: RouteContext): Route =>
  defineRoute({
    id: 'runs.external_actions',
    method: 'GET',
    path: '/v1/runs/:run_id/external-actions',
    summary: 'Lists what a run did outside the daemon, oldest first: intent, outcome, attempts, and what approved it.',
    access: 'read',
    params,
    reply: jsonReply(array(ExternalActionView)),
    problems: noRun,
    handler: ({ params: { run_id } }) => actionsOf(context, runs.get(run_id).run_id),
  })

const acknowledge = ({ context, runs }: RouteContext): Route =>
  defineRoute({
    id: 'runs.external_actions.acknowledge',
    method: 'POST',
    path: '/v1/runs/:run_id/external-actions/acknowledge',
    summary:
      'Enters into the ledger that somebody has looked at what a run did with an unknown outcome: it is no longer ' +
      'counted and warned of. Without such an action nothing is entered.',
    access: 'admin',
    params,
    body: object({ note: optional(doc(string({ min: 1, max: 2000 }), 'What was found.')) }),
    bodyOptional: true,
    example: { body: { note: 'The service shows one payment, made at noon.' } },
    reply: jsonReply(array(ExternalActionView)),
    problems: noRun,
    durability: 'A',
    handler: async ({ params: { run_id }, body: { note }, caller }) => {
      // A delivery may outlive its run, and what came of it is still to be looked at.
      if (context.ledger()?.unknown().includes(run_id) !== true) runs.get(run_id)
      await context.store.state.commit((tx) => context.ledger()?.acknowledge(tx, { run_id, by: caller.role, note }))
      return actionsOf(context, run_id)
    },
  })
