/**
 * MCP servers that are widely used, so that nobody needs to look up how they are started. Nothing of them is installed
 * here: a program is got by `npx` or `uvx` when it is started, and an address is asked as it is.
 */
import type { JsonObject } from '../../../../core/plugin.js'

/** A server that could be on the list. */
export interface CatalogServer {
  readonly name: string
  readonly summary: string
  /** Its table, as it would stand in the list. */
  readonly entry: JsonObject
  /** What its secret is, where it has one. */
  readonly secret?: string
}

/** Servers that go together. */
export interface Profile {
  readonly name: ProfileName
  readonly summary: string
  readonly servers: readonly string[]
}

export const profileNames = ['local', 'code', 'work'] as const
export type ProfileName = (typeof profileNames)[number]

/** The first start of such a program installs it: one that is ended amid that may never start again. */
const installed = (command: string, ...args: readonly string[]): JsonObject => ({
  command,
  args: [...args],
  startup_timeout_sec: 300,
})
const npx = (...args: readonly string[]): JsonObject => installed('npx', '-y', ...args)
const uvx = (...args: readonly string[]): JsonObject => installed('uvx', ...args)
const account = (name: string, url: string): JsonObject => ({ url, oauth_slot_ref: `mcp.${name}` })

export const catalog: readonly CatalogServer[] = [
  {
    name: 'filesystem',
    summary: 'Reads and writes files of the workspace.',
    entry: npx('@modelcontextprotocol/server-filesystem', '.'),
  },
  {
    name: 'memory',
    summary: 'Keeps facts as a graph in a file of its own.',
    entry: npx('@modelcontextprotocol/server-memory'),
  },
  {
    name: 'sequential-thinking',
    summary: 'Lets a model write down steps of thought, and go back to one.',
    entry: npx('@modelcontextprotocol/server-sequential-thinking'),
  },
  { name: 'fetch', summary: 'Reads web pages as text.', entry: uvx('mcp-server-fetch') },
  { name: 'time', summary: 'Tells the time in any zone.', entry: uvx('mcp-server-time') },
  {
    name: 'git',
    summary: 'Reads and changes the git repository of the workspace.',
    entry: uvx('mcp-server-git', '--repository', '.'),
  },
  {
    name: 'playwright',
    summary: 'Drives a browser.',
    entry: npx('@playwright/mcp', '--headless'),
  },
  {
    name: 'context7',
    summary: 'Looks up the documentation of software packages.',
    entry: { url: 'https://mcp.context7.com/mcp' },
  },
  {
    name: 'github',
    summary: 'Repositories, issues and pull requests at GitHub.',
    entry: { url: 'https://api.githubcopilot.com/mcp/', bearer_token_secret_ref: 'mcp.github' },
    secret: 'a personal access token of GitHub',
  },
  { name: 'linear', summary: 'Issues and projects at Linear.', entry: account('linear', 'https://mcp.linear.app/mcp') },
  { name: 'notion', summary: 'Pages at Notion.', entry: account('notion', 'https://mcp.notion.com/mcp') },
  { name: 'sentry', summary: 'Errors of programs at Sentry.', entry: account('sentry', 'https://mcp.sentry.dev/mcp') },
]

export const profiles: readonly Profile[] = [
  {
    name: 'local',
    summary: 'Programs on this machine that need no account.',
    servers: ['filesystem', 'memory', 'sequential-thinking', 'fetch', 'time'],
  },
  { name: 'code', summary: 'What work on code needs.', servers: ['git', 'github', 'context7', 'playwright'] },
  {
    name: 'work',
    summary: 'Where a team keeps its work; each needs a login.',
    servers: ['linear', 'notion', 'sentry'],
  },
]
