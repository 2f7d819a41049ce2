import test from 'ava'
import { Problem } from '../../../../../core/plugin.js'
import { checkMetadata, ownReservedKeys } from '../../../../../plugins/execution/runs/record/origin.js'
import { runEvents } from '../../../../../plugins/execution/runs/views/run-events.js'
import { viewRun } from '../../../../../plugins/execution/runs/views/shown-run.js'
import type { RunEdit } from '../../../../../plugins/execution/runs/lifecycle/run-changes.js'
import { startTestDaemon } from '../../../../support/daemon.js'
import { codeOf, openSession } from '../../../../support/runs.js'
import { changeRun, complete, openRunStore, runRecord, start } from '../../../../support/run-store.js'

const keys = [
  'channel_id',
  'observation_ids',
  'connector_ingress_key',
  'learned_context',
  'materialization_run_id',
  'service_flow',
  'completion_requirements',
]

test('runs-22: keys that tell an origin are refused from callers, those of other plugins too', async (t) => {
  for (const key of [...keys, 'own'])
    t.like(
      t.throws(() => checkMetadata([...ownReservedKeys, { key: 'own' }], { other: 1, [key]: 'x' }), {
        instanceOf: Problem,
      }),
      { code: 'reserved_metadata_key', occurrence: { errors: [{ path: `body.metadata.${key}` }] } },
    )
  t.notThrows(() => checkMetadata(ownReservedKeys, { channel: 'c' }))
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const body = { content: 'x', metadata: { channel_id: 'c' } }
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/sessions/s1/runs', body)), [400, 'reserved_metadata_key'])
  const cadence = { type: 'interval', every_seconds: 60 }
  const plan = { name: 'n', target_session_id: 's1', cadence, request: body }
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/schedules', plan)), [400, 'reserved_metadata_key'])
})

test('runs-22: the origin of a run is a member of its record, through its whole life, and is shown with its metadata', async (t) => {
  const parts = await openRunStore(t)
  const origin = { channel_id: 'c1', observation_ids: ['o1'] }
  const asked = { id: 'a', tool_call_id: 'a', tool_name: 'x', input: {}, scope: 'session' as const, reason: null }
  const run = await changeRun(
    parts,
    runRecord('r1', 's1', 'queued', { origin }),
    (edit: RunEdit) => edit.event({ type: 'accepted', content: 'x', metadata: { note: 'n', channel_id: 'forged' } }),
    start,
    (edit) => edit.wait({ type: 'waiting_for_approval', request_ids: ['a'], requests: [asked] }),
    (edit) => edit.resume(),
    complete,
  )
  t.deepEqual(run.origin, origin)
  const input_metadata = { note: 'n', ...origin }
  t.deepEqual(viewRun(parts.store, run).input_metadata, input_metadata)
  const [accepted] = runEvents(parts.store, run)
  t.like(accepted, { event: { type: 'accepted', run: { input_metadata } } })
})
