import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { strangeVariables } from '../../../../core/host/configuration/variables.js'
import { spawnTestDaemon } from '../../../support/daemon.js'

const clock = createClock()

test('runtime-41: variables that nobody reads are told by name, with the one that was probably meant', (t) => {
  const environment = {
    SERVICE_BIND: '127.0.0.1:0',
    SERVICE_DAEMON_ADMIN_TOKEN: 'one',
    SERVICE_DAEMON_URL: 'http://127.0.0.1:4000',
    SERVICE_HTTP_ADMIN_TOKEN: 'canary-1',
    SERVICE_LOG_LEVLE: 'debug',
    SERVICE_DRIAN_MS: '',
    HOLDFAST_STATE_ROOT: '/tmp',
    HOLDFAST_: 'x',
    SERVICE_WHATEVER_THIS_IS: 'canary-2',
    MY_SERVICE_BINDD: 'x',
    PATH: '/bin',
  }
  const told = (complete: boolean) =>
    strangeVariables({ environment, loaded: [], complete }).map(({ severity, related_id, action = '' }) => [
      severity,
      related_id,
      /^If (\w+) is meant/u.exec(action)?.[1],
    ])
  const meant = [
    ['warning', 'HOLDFAST_STATE_ROOT', 'SERVICE_STATE_ROOT'],
    ['warning', 'SERVICE_HTTP_ADMIN_TOKEN', 'SERVICE_DAEMON_ADMIN_TOKEN'],
    ['warning', 'SERVICE_LOG_LEVLE', 'SERVICE_LOG_LEVEL'],
  ]
  t.deepEqual(told(false), meant)
  t.deepEqual(told(true), [...meant, ['info', 'SERVICE_WHATEVER_THIS_IS', undefined]])
  t.false(JSON.stringify(strangeVariables({ environment, loaded: [], complete: true })).includes('canary'))
})

test('runtime-41: a start says which variables it does not know, in the status and in the log', async (t) => {
  const env = { SERVICE_LOG_LEVLE: 'canary-value', SERVICE_PERMISSION_MODE: 'default' }
  const daemon = await spawnTestDaemon(t, { env })
  const warnings = async (): Promise<any[]> =>
    ((await daemon.request('GET', '/v1/status')).body.health.warnings ?? []).filter(
      ({ code }: any) => code === 'variable_unknown',
    )
  while ((await warnings()).length === 0) await clock.sleep(20)
  t.deepEqual(
    (await warnings()).map(({ severity, related_id }) => [severity, related_id]),
    [['warning', 'SERVICE_LOG_LEVLE']],
  )
  t.regex(daemon.logText(), /SERVICE_LOG_LEVLE/u)
  t.notRegex(JSON.stringify(await warnings()) + daemon.logText(), /canary-value/u)
})
