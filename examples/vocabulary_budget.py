"""How is the budget of a vocabulary spent? Two sizes, two ratios of English to Chinese text: four vocabularies.

A small vocabulary goes to the language that there is more of; a larger one has room for both. For each the table says
which share of the merges touches Chinese, and how many tokens a character takes, English apart from Chinese.

    python examples/vocabulary_budget.py [--english FILE] [--chinese FILE] [--sizes 400 1200] [--ratios 0.95 0.6]

Without files, English is the documentation that comes with Python, and Chinese is sentences of random words.
"""

from __future__ import annotations

import argparse
import random
import re
import warnings
from collections.abc import Sequence
from pathlib import Path

import hf_bpe

HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
CHINESE = """
分词 模型 语言 文本 训练 数据 词表 编码 中文 英文 句子 段落 字符 字节 频率 统计 合并
规则 预算 参数 内存 速度 结果 方法 问题 答案 学生 老师 学校 城市 国家 世界 历史 文化
经济 科学 技术 工程 计算 机器 学习 网络 系统 程序 代码 软件 硬件 时间 空间 今天 明天
昨天 早上 晚上 天气 春天 夏天 秋天 冬天 山水 河流 大海 森林 动物 植物 食物 米饭 面条
水果 蔬菜 医生 医院 健康 运动 音乐 电影 故事 朋友 家庭 父母 孩子 工作 生活 旅行 火车
飞机 汽车 道路 桥梁 房子 窗户 我们 他们 大家 自己 这个 那个 什么 怎么 因为 所以 如果
但是 而且 已经 可以 应该 需要 希望 觉得 知道 看见 听到 发现 开始 结束 使用 提高 减少
增加 改变 选择 非常 比较 特别 一般 简单 复杂 重要 不同 相同 很多 一些 全部 的 了 在
是 和 有 不 也 都 很 把 从 到 对 向
"""
"""Words, from frequent to rare."""


def english_text() -> list[str]:
    """Return the documentation that comes with Python."""
    from pydoc_data.topics import topics

    return [line for topic in sorted(topics) for line in topics[topic].splitlines() if line.isascii()]


def chinese_text(number: int = 6000) -> list[str]:
    """Return sentences of random words, the first ones of the list more often than the last."""
    rng = random.Random(1)
    words = CHINESE.split()
    weights = [1 / (place + 5) for place in range(len(words))]
    return ["".join(rng.choices(words, weights, k=rng.randint(5, 15))) + "。" for _ in range(number)]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--english", type=Path, help="a file of English text")
    parser.add_argument("--chinese", type=Path, help="a file of Chinese text")
    parser.add_argument("--sizes", type=int, nargs="+", default=[400, 1200])
    parser.add_argument("--ratios", type=float, nargs="+", default=[0.95, 0.6], help="English shares of the training")
    parser.add_argument("--alphabet", default="characters", choices=["characters", "bytes"])
    given = parser.parse_args(arguments)
    english = [given.english.read_text("utf-8")] if given.english else english_text()
    chinese = [given.chinese.read_text("utf-8")] if given.chinese else chinese_text()
    characters = {"en": sum(map(len, english)), "zh": sum(map(len, chinese))}
    print(f"{'size':>6} {'English':>8} {'merges that touch Chinese':>26} {'tokens/char en':>15} {'tokens/char zh':>15}")
    for size in given.sizes:
        for ratio in given.ratios:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a small corpus may have no more pairs
                tokenizer = hf_bpe.train(
                    sources={"en": english, "zh": chinese},
                    weights={"en": ratio, "zh": 1 - ratio},
                    vocab_size=size,
                    alphabet=given.alphabet,
                    progress=False,
                )
            report = tokenizer.training_report
            texts = [tokenizer.convert_tokens_to_string([token]) for token in report.used_most_by]
            touched = sum(HAN.search(text) is not None for text in texts) / max(1, len(texts))
            rates = [source.tokens / characters[source.name] for source in report.sources]
            print(f"{size:>6} {ratio:>8.0%} {touched:>26.1%} {rates[0]:>15.3f} {rates[1]:>15.3f}")


if __name__ == "__main__":
    main()
