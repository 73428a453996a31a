"""Synthetic MLPerf logs for comparing checkers: a valid log of any benchmark of rule sets 5.0.0 to 6.1.0, and changes to it."""

import json
import math
import random

FIXED = {  # what most benchmarks log; what a benchmark has of its own stands below. The batch first: rates are checked against it
    "global_batch_size": 16, "gradient_accumulation_steps": 1, "train_samples": 1000, "eval_samples": 1024,
    "opt_base_learning_rate": 0.0004, "opt_end_learning_rate": 4e-05, "opt_adamw_beta_1": 0.9, "opt_adamw_beta_2": 0.95,
    "opt_adamw_epsilon": 1e-05, "opt_adamw_weight_decay": 0.1, "opt_gradient_clip_norm": 1.0, "opt_name": "adamw",
}
LLAMA = {"max_sequence_length": 8192, "opt_learning_rate_warmup_steps": 256, "opt_learning_rate_decay_steps": 1199744,
         "opt_learning_rate_decay_schedule": "cosine with linear warmup", "max_steps": 1200000}
OWN = {
    "bert": {"opt_lamb_epsilon": 1e-6, "opt_learning_rate_training_steps": 7100, "opt_learning_rate_warmup_steps": 0,
             "num_warmup_steps": 0, "start_warmup_step": 0, "opt_lamb_beta_1": 0.9, "opt_lamb_beta_2": 0.999,
             "opt_lamb_weight_decay_rate": 0.01},
    "dlrm_dcnv2": {"opt_name": "adagrad", "opt_adagrad_learning_rate_decay": 0, "opt_weight_decay": 0,
                   "opt_adagrad_initial_accumulator_value": 0, "opt_adagrad_epsilon": 1e-8, "opt_learning_rate_warmup_steps": 0,
                   "opt_learning_rate_decay_start_step": 0, "opt_learning_rate_decay_steps": 0, "eval_samples": 89137319},
    "llama2_70b_lora": {"opt_learning_rate_training_steps": 1024, "lora_alpha": 32, "lora_rank": 16},
    "llama31_405b": {**LLAMA, "global_batch_size": 1152, "opt_base_learning_rate": 8e-05, "opt_learning_rate_warmup_steps": 8000,
                     "opt_learning_rate_decay_steps": 1192000, "eval_samples": 5760, "init_checkpoint_step": 0},
    "retinanet": {"opt_name": "adam", "opt_weight_decay": 0, "opt_learning_rate_warmup_epochs": 1,
                  "opt_learning_rate_warmup_factor": 0.001},
    "rgat": {"opt_name": "adam"},
    "stable_diffusion": {"opt_adamw_beta_2": 0.999, "opt_adamw_epsilon": 1e-08, "opt_adamw_weight_decay": 0.01,
                         "opt_learning_rate_warmup_steps": 1000},
    "flux1": {"evaluation_frequency": 262144, "opt_adamw_epsilon": 1e-08, "opt_learning_rate_warmup_steps": 0},
    "llama31_8b": LLAMA,
    "gpt_oss_20b": LLAMA,
    "deepseekv3_671b": {**LLAMA, "global_batch_size": 16384, "max_sequence_length": 4096, "opt_base_learning_rate": 2.4e-05,
                        "opt_learning_rate_warmup_steps": 4, "opt_learning_rate_decay_steps": 11996, "opt_adamw_epsilon": 1e-08,
                        "moe_aux_loss_coeff": 0.01},
    "qwen35_397b_grpo": {
        "global_batch_size": 256, "max_sequence_length": 65536, "eval_samples": 251, "init_checkpoint_step": 0, "max_steps": 100,
        "opt_base_learning_rate": 1e-06, "opt_adamw_beta_2": 0.999, "opt_adamw_epsilon": 1e-8, "opt_adamw_weight_decay": 0.0,
        "opt_gradient_clip_norm": 0.125, "opt_learning_rate_warmup_steps": 0, "opt_learning_rate_decay_schedule": "constant",
        "generation_training_rollout_temperature": 1.0, "generation_training_rollout_top_p": 1.0,
        "generation_validation_rollout_temperature": 0.1, "generation_validation_rollout_top_p": 0.95,
        "num_prompts_per_step": 16, "num_generations_per_prompt": 16},
    "dlrmv4": {
        "global_batch_size": 8192, "train_samples": 2290835423, "eval_samples": 2058204, "max_sequence_length": 4096, "opt_name": "Adam",
        "opt_base_learning_rate": 1e-06, "opt_adam_beta_1": 0.95, "opt_adam_beta_2": 0.999, "opt_adam_epsilon": 1e-8,
        "opt_weight_decay": 0.0, "opt_sparse_name": "RowWiseAdagrad", "opt_sparse_base_learning_rate": 1e-06,
        "opt_learning_rate_warmup_steps": 24000, "opt_learning_rate_warmup_start_lr": 0.0, "eval_every_data_pct": 0.001},
}
BENCHMARKS = {
    "5.0.0": ["bert", "dlrm_dcnv2", "llama2_70b_lora", "llama31_405b", "retinanet", "rgat", "stable_diffusion"],
    "5.1.0": ["dlrm_dcnv2", "flux1", "llama2_70b_lora", "llama31_405b", "llama31_8b", "retinanet", "rgat"],
    "6.0.0": ["deepseekv3_671b", "dlrm_dcnv2", "flux1", "gpt_oss_20b", "llama2_70b_lora", "llama31_405b", "llama31_8b"],
    "6.1.0": ["deepseekv3_671b", "dlrmv4", "flux1", "gpt_oss_20b", "llama2_70b_lora", "llama31_8b", "qwen35_397b_grpo"],
}
REACHED = {"bert": 0.73, "dlrm_dcnv2": 0.8028, "llama2_70b_lora": 0.92, "llama31_405b": 5.5, "retinanet": 0.341, "rgat": 0.73,
           "flux1": 0.58, "llama31_8b": 3.29, "gpt_oss_20b": 3.33, "deepseekv3_671b": 3.5, "qwen35_397b_grpo": 0.7, "dlrmv4": 0.76,
           "stable_diffusion": 0.5}
REACHED_OPEN = {"llama31_8b": 0.9}  # where the open rules have another target
IN_EPOCHS = ("bert", "dlrm_dcnv2", "retinanet", "rgat")
OPTIONAL = {"lowest_numerical_precision_in_linear": "fp8", "lowest_numerical_precision_in_attn": "bfloat16",
            "tensor_parallelism": 4, "expert_parallelism": 8.0, "micro_batch_size": 2, "config_filename": "a.sh"}
MANDATORY = {**OPTIONAL, "lowest_numerical_precision_in_comm": "mxfp6", "pipeline_parallelism": 2, "context_parallelism": 1}
TIME = 1759858994000


def line(key, value, time_ms, **metadata):
    return {"namespace": "", "time_ms": time_ms, "event_type": "POINT_IN_TIME", "key": key, "value": value,
            "metadata": {"file": "train.py", "lineno": 10, **metadata}}


def head(benchmark, division, ruleset):
    lines = [line("cache_clear", True, TIME), line("init_start", None, TIME + 1)]
    for key, value in (("benchmark", benchmark), ("org", "Example"), ("division", division), ("status", "onprem"),
                       ("platform", "8xExample")):
        lines.append(line("submission_" + key, value, TIME + 2))
    disclosed = MANDATORY if ruleset >= "6.1" else OPTIONAL if ruleset >= "6" else {}
    keys = {**FIXED, **OWN[benchmark], **disclosed, "seed": 1234}
    lines += [line(key, value, TIME + 3) for key, value in keys.items()]
    return lines + [line("init_stop", None, TIME + 60000), line("run_start", None, TIME + 60001)]


def schedule(benchmark, batch):
    """Samples at the first evaluation and between two; by the rules of 6.1 for some, and for others as long as a batch."""
    if benchmark == "dlrmv4":
        every = math.ceil(0.001 * 2290835423 / batch) * batch
        return math.ceil((4480 * batch + 135331840) // 3 / every) * every, every
    if benchmark == "qwen35_397b_grpo":
        return batch * math.ceil(2.5 + 3840 / batch), batch
    if benchmark == "deepseekv3_671b":
        return batch * math.floor(42 + 24576 / batch), batch
    return batch, batch


def progress(benchmark, batch, step, division, ruleset):
    """Metadata that says how far the run is after `step` evaluations."""
    broken = division == "open" and ruleset < "6" and benchmark in ("llama2_70b_lora", "llama31_405b", "llama31_8b")
    if benchmark in IN_EPOCHS or broken:  # open rules of these rounds ask for the other unit
        return {"epoch_num": step}
    first, every = schedule(benchmark, batch)
    return {"samples_count": first + (step - 1) * every}


def evaluations_up_to(benchmark, batch, samples):
    """How many evaluations a scheduled run has that converges after so many samples or at the next evaluation."""
    first, every = schedule(benchmark, batch)
    return 1 + max(0, math.ceil((samples - first) / every))


def right_log(benchmark, division, ruleset, evaluations=3, batch=None):
    """A log that passes; Stable Diffusion needs two evaluations."""
    lines = head(benchmark, division, ruleset)
    batch = batch or OWN[benchmark].get("global_batch_size", FIXED["global_batch_size"])
    reached = REACHED_OPEN.get(benchmark, REACHED[benchmark]) if division == "open" else REACHED[benchmark]
    time_ms, after = TIME + 60002, {"samples_count": 0}
    for step in range(1, evaluations + 1):
        begun, after = after, progress(benchmark, batch, step, division, ruleset)
        epochs = {"epoch_count": 1, "first_epoch_num": step - 1} if "epoch_num" in after else begun
        lines.append(line("block_start", None, time_ms, **epochs))
        lines.append(line("block_stop", None, time_ms + 1000, **(epochs if "epoch_num" in after else after)))
        lines.append(line("eval_start", None, time_ms + 1001, **after))
        value = reached if step == evaluations else reached * random.choice([0.5, 0.9, 1.1, 1.2])
        lines.append(line("eval_accuracy", value, time_ms + 1500, **after))
        if benchmark == "flux1" and division == "open":
            lines.append(line("averaged_validation_loss", value, time_ms + 1500, **after))
        if benchmark == "stable_diffusion":
            lines[-1] = line("eval_accuracy", 80.0, time_ms + 1500, metric="FID", **after)
            lines.append(line("eval_accuracy", 0.17, time_ms + 1500, metric="CLIP", **after))
        lines.append(line("eval_stop", None, time_ms + 1600, **after))
        time_ms += 2000
    return lines + [line("run_stop", None, time_ms, status="success", **after)]


def fit(one, benchmark, batch):
    """Sets what the rules tie to the batch: learning rates, lengths, the batch itself."""
    tied = {("dlrmv4", "opt_base_learning_rate"): lambda value: value * batch / 8192,
            ("dlrmv4", "opt_sparse_base_learning_rate"): lambda value: value * batch / 8192,
            ("llama31_405b", "opt_base_learning_rate"): lambda value: batch * value / 1152,  # the rule allows no other rounding
            ("deepseekv3_671b", "opt_base_learning_rate"): lambda value: value * math.sqrt(batch / 16384),
            ("qwen35_397b_grpo", "opt_base_learning_rate"): lambda value: value * math.sqrt(batch / 256),
            ("qwen35_397b_grpo", "opt_gradient_clip_norm"): lambda value: value * math.sqrt(256 / batch),
            ("qwen35_397b_grpo", "num_prompts_per_step"): lambda value: value * batch // 256}
    key = one["key"]
    if key == "global_batch_size":
        one["value"] = batch
    elif (benchmark, key) in tied:
        one["value"] = tied[benchmark, key](one["value"])
    elif benchmark == "llama31_405b" and key == "opt_learning_rate_decay_steps":
        one["value"] = math.ceil(1200000 * 1152 / batch) - math.ceil(8000 * 1152 / batch)


def right_run(benchmark, ruleset, evaluations, batch, length, minutes):
    """A log of the closed division at this batch that converges after `length` epochs or samples, or at the next evaluation of a schedule,
    and takes so many minutes."""
    scheduled = ruleset >= "6.1" and benchmark in ("dlrmv4", "qwen35_397b_grpo", "deepseekv3_671b")
    if scheduled:
        evaluations = evaluations_up_to(benchmark, batch, length)
    lines = right_log(benchmark, "closed", ruleset, evaluations, batch if scheduled else None)
    unit = "epoch_num" if benchmark in IN_EPOCHS else "samples_count"
    last = max(one["metadata"].get(unit, 0) for one in lines)
    for one in lines:
        fit(one, benchmark, batch)
        if not scheduled and one["metadata"].get(unit) == last and not one["key"].startswith("block_start"):
            one["metadata"][unit] = length
    lines[-1]["time_ms"] = TIME + 60001 + int(minutes * 60000)
    return lines


def text_of(lines):
    """As a rank writes them; what is a text already is a line as it stands."""
    return "".join((one if isinstance(one, str) else ":::MLLOG " + json.dumps(one)) + "\n" for one in lines)
