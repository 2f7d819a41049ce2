/** Sidecars that do what no sidecar should, as processes. */
import { join } from 'node:path'
import test from 'ava'
import { spawnTestDaemon, startTestDaemon, type Reachable } from '../../../../support/daemon.js'
import { freshFolder, rootForKills } from '../../../../support/folders.js'
import { eventually } from '../../../../support/mcp.js'
import {
  allGone,
  connectorNow,
  healthOf,
  isAlive,
  notesOf,
  pidsOf,
  planned,
  putSidecar,
} from '../../../../support/sidecars.js'
import type { SidecarPlan } from '../../../../support/odd-sidecar.js'

const metricsOf = async ({ request }: Reachable): Promise<string> =>
  (await request('GET', '/v1/runtime/connectors/external/metrics')).text

const notesIn = (folder: string, name: string): string => join(folder, name)

test('external-50, external-52, external-55: no process is left behind a change, a deletion and a stop, whatever it ignores', async (t) => {
  const folder = freshFolder()
  const daemon = await startTestDaemon(t)
  const put = async (name: string, plan: Omit<SidecarPlan, 'notes'>, more: object = {}) => {
    const answer = await putSidecar(daemon, name, planned({ notes: notesIn(folder, name), ...plan }), more)
    t.is(answer.status, 200)
    return pidsOf(notesIn(folder, name), plan.hasChild === true ? 2 : 1)
  }
  const [polite, stubborn] = await Promise.all([
    put('polite', {}),
    put('stubborn', { hasChild: true, ignoresTerm: true }),
  ])
  await Promise.all(['polite', 'stubborn'].map((name) => healthOf(daemon, name, 'ok')))
  t.true([...polite, ...stubborn].every(isAlive))
  const [asked = ''] = await notesOf(notesIn(folder, 'polite'), /^GET \/health/u)
  t.is(asked, 'GET /health true', 'with the shared token')
  const [given = ''] = await notesOf(notesIn(folder, 'polite'), /^in /u)
  t.regex(given, /"PATH".*_BASE_URL","SERVICE_EXTERNAL_CONNECTOR_DAEMON_BASE_URL","SERVICE_EXTERNAL_CONNECTOR_NAME"/u)
  t.notRegex(given, /CREDENTIAL|USER/u)

  await daemon.request('PUT', '/v1/runtime/connectors/external/polite', { ingress_events_per_second: 7 })
  await allGone(polite)
  const again = await pidsOf(notesIn(folder, 'polite'), 2)
  await healthOf(daemon, 'polite', 'ok')
  t.notRegex(await metricsOf(daemon), /child_restarts_total\{connector="polite"\} [1-9]/u, 'a change is no restart')
  await daemon.request('DELETE', '/v1/runtime/connectors/external/polite')
  await allGone(again)
  t.true(stubborn.every(isAlive))
  const began = Date.now()
  await daemon.stop()
  const took = Date.now() - began
  t.false(stubborn.some(isAlive))
  t.true(took > 9_500 && took < 60_000, `SIGKILL came after 10 s: ${took}`)
  t.is((await notesOf(notesIn(folder, 'stubborn'), /^SIGTERM/u)).length, 2, 'both were asked first, once')
})

test('external-53, external-54, external-57, external-58: each odd sidecar is told with its cause, and a good one works beside them', async (t) => {
  const folder = freshFolder()
  const daemon = await startTestDaemon(t)
  const plans: Record<string, Omit<SidecarPlan, 'notes'>> = {
    good: {},
    dies: { dies: { says: 'one\n\u001b[2Jshared-dies is no token\n', code: 7 } },
    hangs: { hangs: true },
    forks: { forks: true },
    other: { manifest: { instance_id: 'somebody' }, health: { instance_id: 'else' } },
    newer: { manifest: { protocol_version: 2 } },
    much: { bytes: 70_000 },
    lies: { manifest: { capabilities: 'all' } },
    floods: { floods: 4 * 1024 * 1024 },
    degraded: { health: { status: 'degraded', detail: 'No \u001b[2J network.' } },
  }
  await Promise.all(
    Object.entries(plans).map(([name, plan]) =>
      putSidecar(daemon, name, planned({ notes: notesIn(folder, name), ...plan })),
    ),
  )
  await putSidecar(daemon, 'absent', { command: '/no/such/program' })
  await putSidecar(
    daemon,
    'nowhere',
    { command: 'true' },
    { child_process: { command: 'true', working_dir: '/no/such/folder' } },
  )
  await healthOf(daemon, 'good', 'ok')
  await healthOf(
    daemon,
    'dies',
    'deaf',
    /^Its program does not run: it ended with code 7: \\u001b\[2J\[?<?redacted\]?>? is no token\. It is started again in 1\.\d s\.$/u,
  )
  await healthOf(daemon, 'newer', 'deaf', /its manifest is of another protocol_version than 1/u)
  await healthOf(daemon, 'forks', 'deaf', /it ended with code 0/u)
  await healthOf(daemon, 'absent', 'deaf', /it ended with code 127: .*not found/u)
  await healthOf(daemon, 'nowhere', 'deaf', /could not be started in \/no\/such\/folder: is that folder there\?/u)
  await healthOf(daemon, 'degraded', 'degraded', /it says that it is degraded: No \\u001b\[2J network\./u)
  const late = 'it was not ready within 20 s: its'
  await healthOf(daemon, 'hangs', 'deaf', new RegExp(`${late} manifest was not answered within 3 s`, 'u'))
  await healthOf(daemon, 'other', 'deaf', new RegExp(`${late} health is that of another instance`, 'u'))
  await healthOf(daemon, 'much', 'deaf', new RegExp(`${late} manifest was answered with more than 64 KiB`, 'u'))
  await healthOf(daemon, 'lies', 'deaf', new RegExp(`${late} manifest was answered with something else`, 'u'))
  t.is((await connectorNow(daemon, 'good')).health.state, 'ok')
  await healthOf(daemon, 'floods', 'ok')
  const lines = daemon.log.filter(
    ({ fact, details }) => fact === 'a sidecar wrote' && details?.['connector'] === 'dies',
  )
  t.true(lines.length > 0 && lines.every(({ level }) => level === 'debug'))
  t.notRegex(JSON.stringify(daemon.log), /shared-dies/u)
  const text = await metricsOf(daemon)
  t.regex(text, /child_restarts_total\{connector="dies"\} [2-9]/u)
  t.regex(text, /manifest_fetch_failures_total\{connector="newer"\} [1-9]/u)
  const pids = (await Promise.all(Object.keys(plans).map((name) => pidsOf(notesIn(folder, name))))).flat()
  await daemon.stop()
  t.deepEqual(pids.filter(isAlive), [])
})

test('external-55: a kill of the daemon takes sidecars along, and the next one starts them once', async (t) => {
  const [root, folder] = [rootForKills(), freshFolder()]
  const first = await spawnTestDaemon(t, { root })
  const [bare, apart] = [notesIn(folder, 'bare'), notesIn(folder, 'apart')]
  await putSidecar(first, 'bare', planned({ notes: bare, hasChild: true, ignoresTerm: true }))
  await putSidecar(first, 'apart', planned({ notes: apart, hasChild: 'apart', ignoresTerm: true }))
  const [inGroup, outside] = [await pidsOf(bare, 2), await pidsOf(apart, 2)]
  await Promise.all(['bare', 'apart'].map((name) => healthOf(first, name, 'ok')))
  await first.kill('SIGKILL')
  await allGone(inGroup)
  const second = await spawnTestDaemon(t, { root })
  t.deepEqual(outside.filter(isAlive), [], 'what left its group is ended before plugins start')
  await Promise.all(['bare', 'apart'].map((name) => healthOf(second, name, 'ok')))
  const after = [...(await pidsOf(bare, 4)), ...(await pidsOf(apart, 4))]
  t.is(after.length, 8)
  await second.stop()
  t.deepEqual(after.filter(isAlive), [])
})

test('external-50: a daemon that holds starts no sidecar until it is released', async (t) => {
  const [root, folder] = [rootForKills(), freshFolder()]
  const notes = notesIn(folder, 'box')
  const first = await spawnTestDaemon(t, { root })
  await putSidecar(first, 'box', planned({ notes }))
  const [pid = 0] = await pidsOf(notes)
  await first.stop()
  t.false(isAlive(pid))
  const second = await spawnTestDaemon(t, { root, flags: ['--hold'] })
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  t.is((await pidsOf(notes)).length, 1)
  t.is((await second.request('POST', '/v1/release', {})).status, 200)
  await eventually(async () => ((await pidsOf(notes)).length === 2 ? true : undefined))
  await second.stop()
})
