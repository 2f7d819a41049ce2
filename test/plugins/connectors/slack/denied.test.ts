import test from 'ava'
import type { Log } from '../../../../core/plugin.js'
import { createDenied } from '../../../../plugins/connectors/slack/setup/denied.js'

test('slack-12: what the lists leave out is told in the log with its ids, once in 30 s for each connector', (t) => {
  let now = 0
  const told: unknown[] = []
  const log = { warn: (_: string, details: unknown) => void told.push(details) } as unknown as Log
  const denied = createDenied({ elapsed: () => now }, log)
  const origin = { team_id: 'T0123456', channel_id: 'C0\n{"level":"error"}', authorizations: [] }
  denied('main', origin)
  denied('main', origin)
  const line = { api_app_id: undefined, enterprise_id: undefined, team_id: 'T0123456', channel_id: undefined }
  t.deepEqual(told, [{ connector: 'main', ...line }], 'what is no id is not told')
  denied('other', origin)
  now = 30_000
  denied('main', origin)
  t.is(told.length, 3)
})
