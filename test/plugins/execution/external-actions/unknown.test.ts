import test from 'ava'
import { ExternalActions } from '../../../../plugins/execution/external-actions/contract.js'
import { showStatus } from '../../../../plugins/operator/status/summary.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { lender } from '../../../support/plugins.js'

test(
  'external-actions-10: an unknown effect is warned of and listed until somebody acknowledges it, which the ' +
    'ledger keeps',
  async (t) => {
    const lent = lender({ ledger: ExternalActions })
    const daemon = await startTestDaemon(t, { plugins: [lent.plugin] })
    const [context, { ledger }] = [lent.context(), lent.services()]
    const get = async (path: string): Promise<any> => (await daemon.request('GET', path)).body
    await openSession(daemon)
    await openSession(daemon, 's2')
    const runs: string[] = []
    for (const session_id of ['s1', 's2']) {
      const { run_id } = await until(daemon, (await submit(daemon, session_id, 'Hi')).run_id, 'completed')
      runs.push(run_id)
      await context.state.commit((tx) => {
        ledger.intend(tx, {
          action_id: `${run_id}/pay`,
          kind: 'tool',
          session_id,
          run_id,
          target: 'pay',
          request_digest: 'aa',
          attempt: 1,
          approved_by: { type: 'configuration', id: 'default' },
        })
        ledger.conclude(tx, { action_id: `${run_id}/pay`, session_id, attempt: 1, outcome: 'unknown' })
      })
    }
    const idsOf = async (query: string): Promise<string[]> =>
      (await get(`/v1/runs?${query}`)).map(({ run_id }: any) => run_id)
    const warned = async (): Promise<any> =>
      (await get('/v1/status')).health.warnings?.find(({ code }: any) => code === 'external_actions_unknown')
    t.deepEqual(await idsOf('unknown=true'), runs)
    t.deepEqual(await idsOf('unknown=true&priority_active=true&limit=1'), runs.slice(1))
    t.deepEqual(await idsOf('unknown=true&session_id=s2&status=completed'), runs.slice(1))
    t.deepEqual(await idsOf('unknown=true&status=failed'), [])
    t.like(await warned(), { severity: 'warning', related_id: runs[0] })
    t.regex((await warned()).action, /holdfast runs list --unknown/u)
    t.notRegex(showStatus(await get('/v1/status')), /Nothing needs you/u)

    const path = `/v1/runs/${runs[0]}/external-actions`
    const { body } = await daemon.request('POST', `${path}/acknowledge`, { note: 'It was paid once.' })
    t.like(body[0], {
      outcome: 'unknown',
      acknowledged_by: 'anonymous',
      acknowledgement: 'It was paid once.',
      sequence: 3,
    })
    t.deepEqual(await get(path), body)
    await daemon.request('POST', `${path}/acknowledge`)
    t.deepEqual(await get(path), body, 'a second time enters nothing')
    t.deepEqual(await idsOf('unknown=true'), runs.slice(1))
    t.is((await get('/v1/status')).external_actions.unknown_run_count, 1)
    await daemon.request('POST', `/v1/runs/${runs[1]}/external-actions/acknowledge`)
    t.is(await warned(), undefined)
    t.is((await daemon.request('POST', '/v1/runs/nobody/external-actions/acknowledge')).body.code, 'run_not_found')
  },
)
