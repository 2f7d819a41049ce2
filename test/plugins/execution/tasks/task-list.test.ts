import test from 'ava'
import { unsafeCast } from '../../../../core/base/schema.js'
import { createCollection } from '../../../../core/state/memory/collection.js'
import type { SessionTask } from '../../../../plugins/execution/tasks/contract.js'
import { declareStore } from '../../../../plugins/execution/tasks/store.js'
import { shelf } from '../../../support/shelf.js'
import { taskTools } from '../../../../plugins/execution/tasks/tools.js'

/** A store of tasks that have left memory, and how many were read. */
const coldStore = (records: readonly SessionTask[]) => {
  const seen = { reads: 0 }
  const byId = new Map(records.map((record) => [record.id, record]))
  const read = (id: string) => ((seen.reads += 1), byId.get(id))
  const collection = (spec: any) =>
    createCollection<any>(spec, shelf<any>(spec, spec.name === 'tasks' ? byId : new Map(), read))
  return { seen, store: declareStore(unsafeCast({ collection }), { ended: () => {}, changed: () => {} }) }
}

test('tasks-26: a list reads all open tasks and the newest that ended, and says how many are older', async (t) => {
  const statuses = ['completed', 'failed', 'cancelled'] as const
  const record = (at: number): SessionTask => ({
    id: `${at % 2 === 0 ? 'task_' : 'shell-task-'}${String(at).padStart(4, '0')}`,
    session_id: 's1',
    title: `task ${at}`,
    description: '',
    status: at < 3 ? 'pending' : (statuses[at % 3] ?? 'completed'),
    created_at_ms: 1,
    updated_at_ms: at,
  })
  const records = Array.from({ length: 2000 }, (_, at) => record(at))
  const { store, seen } = coldStore(records)
  const list = taskTools(unsafeCast({ store })).find(({ name }) => name === 'task_list')
  const listed = async (status?: string): Promise<any[]> => {
    const outcome: any = await list?.run(unsafeCast({ status }), unsafeCast({ session_id: 's1' }))
    return outcome.output
  }
  const idsOf = (some: readonly SessionTask[]): string[] => some.map(({ id }) => id).toSorted()
  const all = await listed()
  t.true(seen.reads <= 500, `${seen.reads} were read`)
  t.like(all.pop(), { older_tasks: 2000 - 3 - 128 })
  t.deepEqual(
    all.map(({ id }) => id),
    idsOf([...records.slice(0, 3), ...records.slice(-128)]),
  )
  const failed = await listed('failed')
  const ofStatus = records.filter(({ status }) => status === 'failed')
  t.like(failed.pop(), { older_tasks: ofStatus.length - 128 })
  t.deepEqual(
    failed.map(({ id }) => id),
    idsOf(ofStatus.slice(-128)),
  )
  t.deepEqual(
    (await listed('pending')).map(({ id }) => id),
    idsOf(records.slice(0, 3)),
  )
})
