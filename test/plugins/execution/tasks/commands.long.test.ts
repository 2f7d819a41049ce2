import test from 'ava'
import { spawnMain } from '../../../support/daemon.js'
import { startTasked } from '../../../support/tasks.js'

test('the commands list tasks, show one, read its output and stop it', async (t) => {
  const daemon = await startTasked(t)
  const run = async (...args: string[]): Promise<string> => {
    const started = spawnMain([...args, '--base-url', daemon.url])
    const { code } = await started.exited
    t.is(code, 0, started.text.err)
    return started.text.out.trimEnd()
  }
  t.is(await run('tasks', 'list', 's1'), 'No tasks.')
  const { id } = await daemon.background('echo first; echo last; touch ready; sleep 300')
  await daemon.file('ready')
  const { task } = await daemon.call('task_create', { title: 'Plant', blocked_by: [id] })
  t.regex(
    await run('tasks', 'list', 's1'),
    new RegExp(
      `${id}  in_progress  echo first; echo last; touch ready; sleep 300\\n${task.id}  pending      Plant  ` +
        `waits for ${id}`,
      'u',
    ),
  )
  t.is(await run('tasks', 'list', 's1', '--status', 'pending'), `${task.id}  pending      Plant  waits for ${id}`)
  t.regex(await run('tasks', 'get', 's1', task.id), /^title +Plant$/mu)
  t.true((await run('tasks', 'output', 's1', id, '--tail-bytes', '5')).endsWith('\nlast'))
  t.true((await run('tasks', 'output', 's1', id, '--full')).endsWith('\nfirst\nlast'))
  t.regex(
    await run('tasks', 'stop', 's1', id, '--reason', 'enough'),
    new RegExp(`^${id}  in_progress .* is being stopped$`, 'u'),
  )
  t.regex(
    await run('tasks', 'output', 's1', id, '--wait-ms', '60000'),
    new RegExp(`^${id}  cancelled .* stopped\\nfirst\\nlast$`, 'u'),
  )
  t.is((await daemon.task(id)).metadata.stop_reason, 'enough')
})
