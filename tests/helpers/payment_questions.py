"""Questions to a payment service, for correctors to learn from."""

THINGS = ["花呗", "借呗", "余额宝", "信用卡", "网商贷"]
QUESTIONS = [
    "{}怎么还款",
    "{}可以提前还款吗",
    "怎么关闭{}",
    "为什么我的{}额度没有了",
    "{}什么时候自动扣款",
    "{}分期还款有手续费吗",
    "怎样才能开通{}",
    "{}逾期了怎么办",
]
