/** Ctrl-Z and `fg` in a shell, at each place where a conversation may stand; docs/rules/command-line.md. */
import { spawnSync } from 'node:child_process'
import test from 'ava'
import { spawnDaemon, type SpawnedDaemon } from '../../../../support/daemon.js'
import { hasTmux, openShell, type Terminal } from '../../../../support/screen.js'

/** With the demo model. */
let shared: Promise<SpawnedDaemon> | undefined
const usual = (): Promise<SpawnedDaemon> => (shared ??= spawnDaemon())
test.after.always(async () => void (await (await shared)?.stop()))

const at = ({ url }: SpawnedDaemon) => ({ SERVICE_DAEMON_URL: url })
const enter = (person: Terminal, text: string): void => {
  person.type(text)
  person.press('Enter')
}
/** Ctrl-Z, a word in the shell, and back. */
const awayAndBack = async (person: Terminal, word: string): Promise<void> => {
  person.press('C-z')
  await person.until(/Stopped[^\n]*\n\$$/u)
  enter(person, `echo ${word} $(stty -a | grep -c " icanon.* echo ")`)
  await person.until(new RegExp(`^${word} 1\\n\\$$`, 'mu'))
  enter(person, 'fg')
}

test.serial('command-line-36: who comes back with fg finds the prompt with what was typed, and is heard', async (t) => {
  if (!hasTmux(t)) return t.pass()
  const session_id = `stopped-${process.pid}`
  const person = await openShell(t, ['chat', session_id], at(await usual()))
  await person.until(/^>$/mu)
  person.type('half a')
  await person.until(/^> half a$/mu)
  await awayAndBack(person, 'shell')
  await person.until(/shell 1\n\$ fg\n[^\n]*chat[^\n]*\n> half a$/u)
  enter(person, ' thought')
  await person.until(/You said: half a thought\n>$/u)
  const pid = spawnSync('pgrep', ['-f', `chat ${session_id}$`], { encoding: 'utf8' }).stdout.trim()
  spawnSync('kill', ['-TSTP', pid])
  await person.until(/Stopped[^\n]*\n\$$/u)
  enter(person, 'fg')
  await person.until(/fg\n[^\n]*chat[^\n]*\n>$/u)
  person.press('C-c')
  t.regex(await person.until(/\^C\n\$$/u), /half a thought/u)
})

test.serial('command-line-36: an approval that is asked, and a run, go on behind Ctrl-Z and fg', async (t) => {
  if (!hasTmux(t)) return t.pass()
  const person = await openShell(t, ['chat', 'runs'], at(await usual()))
  await person.until(/^>$/mu)
  enter(person, '//tool bash {"command":"echo hi"}')
  await person.until(/allow bash\?$/u)
  await awayAndBack(person, 'asked')
  await person.until(/fg\n[^\n]*chat[^\n]*\n {2}allow bash\?$/u)
  enter(person, 'y')
  await person.until(/Done\.\n>$/u)
  enter(person, '//sleep 100000')
  await person.until(/sleep 100000(?:\n… thinking \d+ s)?$/u)
  await awayAndBack(person, 'works')
  await person.until(/works 1\n\$ fg\n[^\n]*'runs'(?:\n… thinking \d+ s)?$/u)
  person.press('C-c')
  t.regex(await person.until(/The run was interrupted\.[^\n]*\n>$/u), /Stopped/u)
})
