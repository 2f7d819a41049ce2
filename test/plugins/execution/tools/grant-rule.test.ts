import test from 'ava'
import { boolean, object, optional, string } from '../../../../core/plugin.js'
import { covers, grantRuleOf, prefixFault, type GrantRule } from '../../../../plugins/execution/tools/contract.js'

const command = (value: string): GrantRule => ({ kind: 'command', value })
const prefix = (value: string): GrantRule => ({ kind: 'command_prefix', value })

test('approvals-21: an exact rule covers what is the same letter by letter, and of the same kind', (t) => {
  t.true(covers(command('a; b'), command('a; b')))
  for (const other of ['a; b ', 'a;b', 'A; b', 'a; b\n']) t.false(covers(command('a; b'), command(other)), other)
  t.false(covers({ kind: 'path', value: 'a' }, command('a')))
  t.false(covers({ kind: 'path', value: 'a/b' }, { kind: 'path', value: './a/b' }))
})

test('approvals-21: a prefix covers plain words behind it, and no command that hides another one', (t) => {
  for (const fits of ['npm test', 'npm test -- --grep=x', 'npm test src/a.ts,b:c@1%'])
    t.true(covers(prefix('npm test'), command(fits)), fits)
  const hiding = [
    ';',
    '&&',
    '||',
    '|',
    '&',
    '\n',
    '\t',
    '\r',
    '>',
    '>>',
    '<',
    '$(x)',
    '`x`',
    '$X',
    '${X}',
    '(x)',
    '{a,b}',
  ]
  const signs = ["'", '"', '\\', '*', '?', '[a]', '~', '#', '!x', '^', '\u00a0', '\u200b', 'é', '']
  for (const sign of [...hiding, ...signs]) {
    t.false(covers(prefix('npm test'), command(`npm test ${sign} x`)), JSON.stringify(sign))
    if (sign !== '') t.false(covers(prefix('npm test'), command(`npm test${sign}`)), JSON.stringify(sign))
  }
  for (const other of ['npm testing', 'npm', ' npm test', 'npm test ', 'X=1 npm test', 'npm  test'])
    t.false(covers(prefix('npm test'), command(other)), other)
  t.false(covers(prefix('a'), { kind: 'path', value: 'a b' }))
})

test('approvals-26: of git and of what builds only words are a prefix that run nothing which the rest names', (t) => {
  for (const bad of [
    'git',
    'git -c core.sshCommand=id',
    'git -C x status',
    'git --exec-path=x status',
    'git --git-dir=x status',
    'git rebase',
    'git bisect run',
    'git submodule foreach',
    'git grep',
    'git difftool',
    'git archive',
    'git fetch',
    '/usr/bin/git config',
    'npm',
    'npm exec',
    'npm install',
    'npm run',
    'npm run --prefix=x',
    'yarn dlx',
    'pnpm dlx',
    'cargo run',
    'cargo +nightly test',
    'go run',
    'go generate',
  ])
    t.not(prefixFault(bad), undefined, bad)
  for (const [words, fits] of [
    ['git status', 'git status --short'],
    ['git commit', 'git commit -am x'],
    ['git log', 'git log --oneline -3'],
    ['git diff', 'git diff --stat HEAD -- a --output'],
    ['npm run lint', 'npm run lint -- --fix'],
    ['npm test --silent', 'npm test --silent a'],
    ['go test', 'go test ./a/...'],
  ] as const)
    t.true(covers(prefix(words), command(fits)), fits)
  for (const [words, other] of [
    ['git diff', 'git diff --output=.git/hooks/pre-commit'],
    ['git log', 'git log --outp x'],
    ['git show', 'git show --ext-diff'],
    ['npm test', 'npm test --script-shell=x'],
    ['npm test', 'npm test --prefix x -- a'],
    ['cargo build', 'cargo build --config x'],
    ['go test', 'go test -exec ./x'],
    ['make', 'make'],
    ['npm run', 'npm run x'],
    ['git', 'git status'],
  ] as const)
    t.false(covers(prefix(words), command(other)), other)
})

test('approvals-21: what runs other programs is no prefix, nor is a variable or what a shell reads', (t) => {
  for (const bad of [
    'sudo npm',
    '/usr/bin/env npm',
    'bash',
    'xargs rm',
    'taskset 1 rm',
    'linux64 rm',
    'python3.12 -c',
    '/lib64/ld-linux-x86-64.so.2 /bin/rm',
    'find .',
    'gawk x',
    '/usr/bin/mawk x',
    'pypy3.10 x',
    'Rscript x',
    'sed -n',
    'direnv exec',
    'X=1 npm',
    'a;',
    'a  b',
    'a ',
    '$X',
    '',
  ])
    t.not(prefixFault(bad), undefined, bad)
  for (const bad of 'make vim vim.tiny emacs less man tar rsync ssh zip perl5.36 podman mvn gradle rg sort git-shell'.split(
    ' ',
  ))
    t.not(prefixFault(bad), undefined, bad)
  for (const good of ['npm test', 'git status', './scripts/check.sh', 'ls', 'cargo test'])
    t.is(prefixFault(good), undefined, good)
})

const tool = {
  input: object({ command: string(), later: optional(boolean()) }),
  subject: ({ command: value, later }: { command: string; later?: boolean | undefined }): GrantRule | undefined =>
    later === true ? undefined : command(value),
}

test('approvals-23: only what a person sees whole and as it is can be remembered', (t) => {
  t.deepEqual(grantRuleOf(tool, { command: 'a\nb' }), command('a\nb'))
  t.deepEqual(grantRuleOf(tool, { later: true, command: 'a' }), {
    kind: 'input',
    value: '{"command":"a","later":true}',
  })
  t.is(grantRuleOf(tool, { command: 'a'.repeat(1_000) })?.value.length, 1_000)
  for (const unseen of ['a'.repeat(1_001), 'a\u200bb', 'a\u001b[8m', 'a\u202eb'])
    t.is(grantRuleOf(tool, { command: unseen }), undefined, JSON.stringify(unseen.slice(0, 9)))
  t.is(grantRuleOf(tool, { command: 7 }), undefined)
})
