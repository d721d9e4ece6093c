import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds customers' opinions: of single answers, and of whole conversations; and the questions that need a better answer. */
export const feedback: Migration = {
  up: (db) =>
    apply(
      db,
      `alter table messages add column kind $short;
      create table answer_feedback (
        message_id $id not null, sender $key not null, conversation_id $id not null, value $short, at $time not null,
        primary key (message_id, sender)
      ) $engine;
      create index answer_feedback_conversation on answer_feedback (conversation_id);
      create table weak_answers (
        message_id $id not null primary key, workspace_id $id not null, conversation_id $id not null,
        channel $short not null, asked_at $time not null, refused $flag not null default 0,
        unsure $flag not null default 0, disliked $flag not null default 0, handed_over $flag not null default 0,
        terms $text, group_id $id
      ) $engine;
      create index weak_answers_asked on weak_answers
        (workspace_id, asked_at, group_id, message_id, refused, unsure, disliked, handed_over);
      create index weak_answers_conversation on weak_answers (conversation_id);
      create index weak_answers_group on weak_answers (group_id, asked_at, message_id, channel);
      create table question_groups (
        id $id not null primary key, workspace_id $id not null, leader_id $id not null, asked_at $time not null,
        state $short not null, document_id $id, state_at $time not null, state_by $key
      ) $engine;
      create index question_groups_workspace on question_groups (workspace_id, asked_at);
      create table surveys (
        conversation_id $id not null primary key, message_id $id not null, seq $int not null, agent $key,
        sent_at $time not null
      ) $engine;
      create table ratings (
        id $id not null primary key, workspace_id $id not null, conversation_id $id not null, score $int not null,
        comment $text, channel $short not null, agent $key, created_at $time not null, updated_at $time not null
      ) $engine;
      create unique index ratings_conversation on ratings (conversation_id);
      create index ratings_created on ratings (workspace_id, created_at)`,
    ),
};
